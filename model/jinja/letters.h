// What Python knows of single characters. Bytes that are no UTF-8 are characters, too: U+FFFD.
#pragma once

#include <cstddef>
#include <string_view>

namespace tandem::model::jinja {

struct Letter {
    char32_t code = 0;
    size_t bytes = 0;
};
Letter front_letter(std::string_view text);
Letter back_letter(std::string_view text);

bool is_white(char32_t code);      // str.isspace
bool is_printable(char32_t code);  // str.isprintable
bool is_letter(char32_t code);     // str.isalpha
bool is_decimal(char32_t code);
bool is_upper(char32_t code);
bool is_lower(char32_t code);

// One character for one: of the scripts with cases these are Latin up to U+017F, Greek, Cyrillic,
// and full-width Latin; other characters stay as they are.
char32_t to_upper(char32_t code);
char32_t to_lower(char32_t code);

// What is left without white space at the ends.
std::string_view without_front_white(std::string_view text);
std::string_view without_back_white(std::string_view text);

}  // namespace tandem::model::jinja
