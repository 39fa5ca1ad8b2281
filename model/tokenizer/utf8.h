// Well-formed UTF-8 (Unicode 15.1, table 3-7): no overlong forms, no surrogates.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::model {

// The sequence that some bytes begin with: all of it, or as much as there is. Length 0: the bytes
// begin none, and no further bytes can change that.
struct Utf8Front {
    size_t length = 0;
    bool whole = false;
};
Utf8Front utf8_front(std::string_view bytes);

// The first character, or the first byte where that begins none.
std::string_view front_character(std::string_view text);

// The code point of one whole sequence.
char32_t code_point(std::string_view sequence);

void append_utf8(std::string& bytes, char32_t code);

}  // namespace tandem::model
