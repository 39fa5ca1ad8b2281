#include "model/grammar/schema/notation.h"

#include <cstdio>

namespace tandem::model::grammar::schema {

namespace {

std::string hexadecimal(const char* format, char32_t code) {
    char text[16];
    std::snprintf(text, sizeof text, format, unsigned(code));
    return text;
}

// What JSON has for a character that may not stand in a string as it is.
std::string escape(char32_t code) {
    static constexpr std::string_view codes = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    const size_t at = code < 0x80 ? codes.find(char(code)) : codes.npos;
    return at == codes.npos ? hexadecimal("\\u%04x", code) : std::string("\\") + letters[at];
}

}  // namespace

std::string literal(std::string_view text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') all += '\\';
        if (uint8_t(c) < 0x20 || c == 0x7F)
            all += hexadecimal("\\x%02x", char32_t(c));
        else
            all += c;
    }
    return all + "\"";
}

std::string characters(const CharacterSet& set) {
    const auto one = [](char32_t code) {
        const bool plain = (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
                           (code >= 'a' && code <= 'z') || code == ' ' || code == '_';
        if (plain) return std::string(1, char(code));
        return hexadecimal(code < 0x100 ? "\\x%02x" : "\\U%08x", code);
    };
    std::string all = "[";
    for (const Range& range : set.ranges()) {
        all += one(range.first);
        if (range.last > range.first) all += "-" + one(range.last);
    }
    return all + "]";
}

std::string in_string(const CharacterSet& set) {
    const CharacterSet escaped({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}});
    std::string all;
    const auto add = [&](const std::string& one) { all += (all.empty() ? "" : " | ") + one; };
    if (const CharacterSet plain = set.both(escaped.complement()); !plain.empty())
        add(characters(plain));
    const CharacterSet others = set.both(escaped);
    for (const Range& range : others.ranges())
        for (char32_t code = range.first; code <= range.last; ++code) add(literal(escape(code)));
    return all.find('|') == all.npos ? all : "(" + all + ")";
}

}  // namespace tandem::model::grammar::schema
