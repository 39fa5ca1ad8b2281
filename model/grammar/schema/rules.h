// The rules of GBNF that grammars of JSON schemas share, and those of formats.
#pragma once

#include <span>
#include <string_view>

namespace tandem::model::grammar::schema {

struct SharedRule {
    std::string_view name, body;
    std::string_view needs = {};  // names of others, each with a space behind it
};

std::span<const SharedRule> shared_rules();
// The rule of what stands between the quotes of a string in this format; null where none is known.
const SharedRule* rule_of_format(std::string_view format);

}  // namespace tandem::model::grammar::schema
