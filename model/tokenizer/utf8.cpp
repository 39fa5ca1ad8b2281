#include "model/tokenizer/utf8.h"

#include <cstdint>

namespace tandem::model {
namespace {

size_t length_of(uint8_t lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 0;
}

// The second byte is where overlong forms, surrogates and code points past 10FFFF show.
bool may_follow(uint8_t lead, uint8_t second) {
    const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

}  // namespace

Utf8Front utf8_front(std::string_view bytes) {
    if (bytes.empty()) return {};
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
    const size_t wanted = length_of(byte(0));
    if (wanted == 0) return {};
    for (size_t at = 1; at < wanted; ++at) {
        if (at == bytes.size()) return {.length = at};
        const bool fits = at == 1 ? may_follow(byte(0), byte(1)) : (byte(at) & 0xC0) == 0x80;
        if (!fits) return {};
    }
    return {.length = wanted, .whole = true};
}

std::string_view front_character(std::string_view text) {
    const Utf8Front front = utf8_front(text);
    return text.substr(0, front.whole ? front.length : 1);
}

char32_t code_point(std::string_view sequence) {
    const auto lead = static_cast<uint8_t>(sequence[0]);
    if (sequence.size() == 1) return lead;
    char32_t code = lead & (0x7F >> sequence.size());
    for (const char byte : sequence.substr(1))
        code = code << 6 | (static_cast<uint8_t>(byte) & 0x3F);
    return code;
}

void append_utf8(std::string& bytes, char32_t code) {
    const auto add = [&](char32_t bits) { bytes.push_back(static_cast<char>(bits)); };
    const auto add_rest = [&](int shift) { add(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xC0 | code >> 6);
        add_rest(0);
    } else if (code < 0x10000) {
        add(0xE0 | code >> 12);
        add_rest(6);
        add_rest(0);
    } else {
        add(0xF0 | code >> 18);
        add_rest(12);
        add_rest(6);
        add_rest(0);
    }
}

}  // namespace tandem::model
