// Pieces of GBNF, written.
#pragma once

#include <string>
#include <string_view>

#include "model/grammar/character_set.h"

namespace tandem::model::grammar::schema {

std::string literal(std::string_view text);       // "text", of UTF-8
std::string characters(const CharacterSet& set);  // [a-z], of a set that is not empty

// The characters of a set as they stand between the quotes of a string in JSON: those that must be
// escaped in their shortest escapes, the others as they are.
std::string in_string(const CharacterSet& set);

}  // namespace tandem::model::grammar::schema
