// Grammars of JSON schemas (json-schema.org, draft 7 to 2020-12).
#pragma once

#include <string>
#include <string_view>

namespace tandem::model::grammar {

// A grammar in GBNF that has texts of JSON by this schema alone, though not every such text: see
// schema/converter.h. {} stands for any object, and below the top for any value. Throws Error, in
// the name of `source`, where the text is no JSON, and where the schema has a keyword that cannot
// be followed, with its place.
std::string grammar_of_schema(std::string_view text, const std::string& source = "JSON schema");

}  // namespace tandem::model::grammar
