// The keywords of JSON schemas: which of them say what values are like, and about which types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tandem::model::grammar::schema {

using Json = nlohmann::ordered_json;

// "object", "array", "string", "number", "integer", "boolean", "null".
using Types = std::vector<std::string>;

// Says nothing about values: titles, descriptions, definitions.
bool is_annotation(std::string_view keyword);
// Can be followed, apart from annotations.
bool is_known(std::string_view keyword);
// Says nothing with that value, though it could not be followed with another.
bool is_harmless(std::string_view keyword, const Json& value);

// The types that a schema, an object without $ref and allOf, allows by `type`, or that its other
// keywords are about; where there are neither, all. Throws Error where a name is none.
Types types_of(const Json& schema);
// Those that are in both. Whole numbers are numbers.
Types both(const Types& some, const Types& others);
bool is_of(const Json& value, const Types& types);

// Whether the value has another keyword than annotations and these.
bool has_others(const Json& schema, std::initializer_list<std::string_view> keywords);

// The place of a part: "#/properties/a~1b".
std::string below(const std::string& place, std::string_view name);

}  // namespace tandem::model::grammar::schema
