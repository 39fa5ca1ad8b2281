// Regular expressions of JSON schemas (ECMA-262) as expressions of GBNF.
#pragma once

#include <string>
#include <string_view>

namespace tandem::model::grammar::schema {

// What may stand between the quotes of a string in which the pattern is found; `character` is the
// name of the rule of one character there. Known are characters, sets, groups, alternatives,
// repetitions, \d \w \s and relatives, and ^ and $ at the ends. Throws Error, which says what of it
// is not, where there is anything else.
std::string pattern(std::string_view text, const std::string& character);

}  // namespace tandem::model::grammar::schema
