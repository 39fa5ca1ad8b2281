// Text as the splitting expressions see it: code points with the classes that they ask for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem::model {

// A set of classes, one bit each. Every character is in at most one of the first ten; the others
// say more about it.
using Classes = uint16_t;
namespace classes {
constexpr Classes upper = 1 << 0;              // Lu Lt
constexpr Classes lower = 1 << 1;              // Ll
constexpr Classes han = 1 << 2;                // Lo, ideographs
constexpr Classes other_letter = 1 << 3;       // Lm, and Lo that are not han
constexpr Classes mark = 1 << 4;               // M
constexpr Classes decimal = 1 << 5;            // Nd
constexpr Classes other_number = 1 << 6;       // Nl No
constexpr Classes connector = 1 << 7;          // Pc
constexpr Classes other_punctuation = 1 << 8;  // P without Pc
constexpr Classes symbol = 1 << 9;             // S
constexpr Classes space = 1 << 10;             // White_Space, line breaks included
constexpr Classes line_break = 1 << 11;        // CR LF
constexpr Classes blank = 1 << 12;             // U+0020
constexpr Classes slash = 1 << 13;             // U+002F

constexpr Classes letter = upper | lower | han | other_letter;
constexpr Classes number = decimal | other_number;
constexpr Classes punctuation = connector | other_punctuation;
}  // namespace classes

struct Character {
    char32_t code;
    Classes classes;
    uint8_t bytes;  // length in UTF-8
};

// A byte that is not part of well-formed UTF-8 is a character of its own, U+FFFD without classes.
std::vector<Character> characters(std::string_view text);

}  // namespace tandem::model
