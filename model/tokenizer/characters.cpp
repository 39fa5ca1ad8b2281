#include "model/tokenizer/characters.h"

#include <array>

#include "model/tokenizer/unicode.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

// The blocks of unified and compatibility ideographs that the expressions call Han.
bool is_han(char32_t code) {
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2EBEF) ||
           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

Classes class_of(Category category, char32_t code) {
    using enum Category;
    switch (category) {
        case Lu:
        case Lt:
            return classes::upper;
        case Ll:
            return classes::lower;
        case Lm:
            return classes::other_letter;
        case Lo:
            return is_han(code) ? classes::han : classes::other_letter;
        case Mn:
        case Mc:
        case Me:
            return classes::mark;
        case Nd:
            return classes::decimal;
        case Nl:
        case No:
            return classes::other_number;
        case Pc:
            return classes::connector;
        case Pd:
        case Ps:
        case Pe:
        case Pi:
        case Pf:
        case Po:
            return classes::other_punctuation;
        case Sm:
        case Sc:
        case Sk:
        case So:
            return classes::symbol;
        default:
            return 0;
    }
}

Classes classify(char32_t code) {
    Classes all = class_of(general_category(code), code);
    if (is_space(code)) all |= classes::space;
    if (code == '\r' || code == '\n') all |= classes::line_break;
    if (code == ' ') all |= classes::blank;
    if (code == '/') all |= classes::slash;
    return all;
}

std::array<Classes, 128> classify_ascii() {
    std::array<Classes, 128> table;
    for (char32_t code = 0; code < table.size(); ++code) table[code] = classify(code);
    return table;
}

}  // namespace

std::vector<Character> characters(std::string_view text) {
    static const std::array<Classes, 128> ascii = classify_ascii();
    std::vector<Character> all;
    all.reserve(text.size());
    for (size_t at = 0; at < text.size(); at += all.back().bytes) {
        const auto lead = static_cast<uint8_t>(text[at]);
        if (lead < ascii.size()) {
            all.push_back({lead, ascii[lead], 1});
            continue;
        }
        const Utf8Front front = utf8_front(text.substr(at));
        if (!front.whole) {
            all.push_back({0xFFFD, 0, 1});
            continue;
        }
        const char32_t code = code_point(text.substr(at, front.length));
        all.push_back({code, classify(code), static_cast<uint8_t>(front.length)});
    }
    return all;
}

}  // namespace tandem::model
