#include "model/tokenizer/byte_alphabet.h"

#include <array>

#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

constexpr bool prints(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
    std::array<char32_t, 256> images;
    std::array<int, 0x144> bytes;  // by image; -1 where it is none
};

constexpr Alphabet make_alphabet() {
    Alphabet alphabet{};
    alphabet.bytes.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const char32_t image = prints(byte) ? static_cast<char32_t>(byte) : next++;
        alphabet.images[byte] = image;
        alphabet.bytes[image] = byte;
    }
    return alphabet;
}

constexpr Alphabet alphabet = make_alphabet();

}  // namespace

char32_t byte_image(uint8_t byte) { return alphabet.images[byte]; }

std::optional<uint8_t> byte_of_image(char32_t code) {
    if (code >= alphabet.bytes.size() || alphabet.bytes[code] < 0) return std::nullopt;
    return static_cast<uint8_t>(alphabet.bytes[code]);
}

std::string to_images(std::string_view bytes) {
    std::string images;
    for (const char byte : bytes) append_utf8(images, byte_image(static_cast<uint8_t>(byte)));
    return images;
}

std::string from_images(std::string_view images) {
    std::string bytes;
    while (!images.empty()) {
        const Utf8Front front = utf8_front(images);
        const std::string_view sequence = images.substr(0, front.whole ? front.length : 1);
        const auto byte = front.whole ? byte_of_image(code_point(sequence)) : std::nullopt;
        if (byte) {
            bytes.push_back(static_cast<char>(*byte));
        } else {
            bytes += sequence;
        }
        images.remove_prefix(sequence.size());
    }
    return bytes;
}

}  // namespace tandem::model
