#include "model/jinja/escapes.h"

#include <algorithm>
#include <cstdint>

#include "gguf/error.h"
#include "model/jinja/letters.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::jinja {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

int digit_value(char c) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    const size_t value = hex_digits.find(lower);
    return value == std::string_view::npos ? 16 : static_cast<int>(value);
}

// As many digits as there are, up to `most`, taken off the text.
char32_t take_number(std::string_view& text, size_t most, int base, size_t least) {
    char32_t number = 0;
    size_t count = 0;
    for (; count < most && !text.empty() && digit_value(text[0]) < base; ++count) {
        number = number * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(text[0]));
        text.remove_prefix(1);
    }
    if (count < least) throw Error("an escape of the string has too few digits");
    return number;
}

bool is_surrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

// \uD83D\uDE42 is one character; the half of a pair is none.
char32_t take_unit(std::string_view& text) {
    const char32_t high = take_number(text, 4, 16, 4);
    if (high < 0xD800 || high > 0xDBFF || !text.starts_with("\\u")) return high;
    std::string_view rest = text.substr(2);
    const char32_t low = take_number(rest, 4, 16, 4);
    if (low < 0xDC00 || low > 0xDFFF) return high;
    text = rest;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

void append_code(std::string& out, char32_t code) {
    append_utf8(out, code > 0x10FFFF || is_surrogate(code) ? 0xFFFD : code);
}

// The escape behind a backslash.
void read_escape(std::string& out, std::string_view& text) {
    constexpr std::string_view letters = "ntrbfva\\'\"";
    constexpr std::string_view meanings = "\n\t\r\b\f\v\a\\'\"";
    const char c = text[0];
    if (c >= '0' && c <= '7') return append_code(out, take_number(text, 3, 8, 1));
    text.remove_prefix(1);
    if (const size_t at = letters.find(c); at != std::string_view::npos)
        out.push_back(meanings[at]);
    else if (c == 'x')
        append_code(out, take_number(text, 2, 16, 2));
    else if (c == 'u')
        append_code(out, take_unit(text));
    else if (c == 'U')
        append_code(out, take_number(text, 8, 16, 8));
    else if (c != '\n')
        out.append({'\\', c});
}

void append_hex(std::string& out, char letter, char32_t code, int digits) {
    out.append({'\\', letter});
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        out.push_back(hex_digits[code >> shift & 0xF]);
}

void append_quoted(std::string& out, char32_t code, char quote, std::string_view bytes) {
    if (code == '\n') {
        out += "\\n";
    } else if (code == '\r') {
        out += "\\r";
    } else if (code == '\t') {
        out += "\\t";
    } else if (code == '\\' || code == static_cast<char32_t>(quote)) {
        out.append({'\\', static_cast<char>(code)});
    } else if (is_printable(code)) {
        out += bytes;
    } else if (code < 0x100) {
        append_hex(out, 'x', code, 2);
    } else if (code < 0x10000) {
        append_hex(out, 'u', code, 4);
    } else {
        append_hex(out, 'U', code, 8);
    }
}

}  // namespace

std::string unescaped(std::string_view literal) {
    std::string out;
    out.reserve(literal.size());
    while (!literal.empty()) {
        const size_t plain = std::min(literal.find('\\'), literal.size());
        out += literal.substr(0, plain);
        literal.remove_prefix(plain);
        if (literal.size() < 2) {
            out += literal;
            break;
        }
        literal.remove_prefix(1);
        read_escape(out, literal);
    }
    return out;
}

std::string quoted(std::string_view text) {
    const bool apostrophes = text.find('\'') != std::string_view::npos;
    const char quote = apostrophes && text.find('"') == std::string_view::npos ? '"' : '\'';
    std::string out(1, quote);
    while (!text.empty()) {
        const Letter letter = front_letter(text);
        append_quoted(out, letter.code, quote, text.substr(0, letter.bytes));
        text.remove_prefix(letter.bytes);
    }
    out.push_back(quote);
    return out;
}

}  // namespace tandem::model::jinja
