#include "model/jinja/letters.h"

#include <algorithm>

#include "model/tokenizer/unicode.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::jinja {
namespace {

// Pairs of an even capital and the odd small letter behind it, or the other way round.
bool alternates_from_even(char32_t code) {
    return (code >= 0x100 && code <= 0x12F) || (code >= 0x132 && code <= 0x137) ||
           (code >= 0x14A && code <= 0x177) || (code >= 0x460 && code <= 0x481) ||
           (code >= 0x48A && code <= 0x4BF) || (code >= 0x4D0 && code <= 0x52F);
}
bool alternates_from_odd(char32_t code) {
    return (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17E) ||
           (code >= 0x4C1 && code <= 0x4CE);
}

// Capitals that lie at one distance before their small letters.
struct Run {
    char32_t first, last;  // capitals
    char32_t distance;
};
constexpr Run runs[] = {{'A', 'Z', 32},      {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},
                        {0x386, 0x386, 38},  {0x388, 0x38A, 37}, {0x38C, 0x38C, 64},
                        {0x38E, 0x38F, 63},  {0x391, 0x3A1, 32}, {0x3A3, 0x3AB, 32},
                        {0x400, 0x40F, 80},  {0x410, 0x42F, 32}, {0x4C0, 0x4C0, 15},
                        {0xFF21, 0xFF3A, 32}};

Category category(char32_t code) { return general_category(code); }

}  // namespace

Letter front_letter(std::string_view text) {
    if (text.empty()) return {};
    const Utf8Front front = utf8_front(text);
    if (!front.whole) return {.code = 0xFFFD, .bytes = 1};
    return {.code = code_point(text.substr(0, front.length)), .bytes = front.length};
}

Letter back_letter(std::string_view text) {
    for (size_t bytes = 1; bytes <= std::min<size_t>(4, text.size()); ++bytes) {
        const Letter letter = front_letter(text.substr(text.size() - bytes));
        if (letter.bytes == bytes && (bytes > 1 || letter.code < 0x80)) return letter;
    }
    return {.code = 0xFFFD, .bytes = std::min<size_t>(1, text.size())};
}

bool is_white(char32_t code) { return is_space(code) || (code >= 0x1C && code <= 0x1F); }

bool is_printable(char32_t code) {
    if (code < 0x7F) return code >= 0x20;
    switch (category(code)) {
        case Category::Cc:
        case Category::Cf:
        case Category::Cs:
        case Category::Co:
        case Category::Cn:
        case Category::Zl:
        case Category::Zp:
        case Category::Zs:
            return false;
        default:
            return true;
    }
}

bool is_letter(char32_t code) { return category(code) <= Category::Lo; }
bool is_decimal(char32_t code) { return category(code) == Category::Nd; }
bool is_upper(char32_t code) { return category(code) == Category::Lu; }
bool is_lower(char32_t code) { return category(code) == Category::Ll; }

char32_t to_upper(char32_t code) {
    if (code == 0xFF) return 0x178;
    if (code == 0x3C2) return 0x3A3;  // the small sigma at ends of words
    if (code == 0xB5) return 0x39C;
    if (alternates_from_even(code)) return code & ~char32_t{1};
    if (alternates_from_odd(code)) return (code - 1) | 1;
    for (const Run& run : runs)
        if (code >= run.first + run.distance && code <= run.last + run.distance)
            return code - run.distance;
    return code;
}

char32_t to_lower(char32_t code) {
    if (code == 0x178) return 0xFF;
    if (alternates_from_even(code)) return code | 1;
    if (alternates_from_odd(code)) return (code + 1) & ~char32_t{1};
    for (const Run& run : runs)
        if (code >= run.first && code <= run.last) return code + run.distance;
    return code;
}

std::string_view without_front_white(std::string_view text) {
    while (!text.empty()) {
        const Letter letter = front_letter(text);
        if (!is_white(letter.code)) break;
        text.remove_prefix(letter.bytes);
    }
    return text;
}

std::string_view without_back_white(std::string_view text) {
    while (!text.empty()) {
        const Letter letter = back_letter(text);
        if (!is_white(letter.code)) break;
        text.remove_suffix(letter.bytes);
    }
    return text;
}

}  // namespace tandem::model::jinja
