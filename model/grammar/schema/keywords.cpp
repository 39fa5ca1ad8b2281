#include "model/grammar/schema/keywords.h"

#include <algorithm>
#include <cmath>

#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::model::grammar::schema {

namespace {

constexpr std::string_view annotations[] = {
    "$schema",   "$id",         "$comment", "$defs",           "definitions",      "title",
    "default",   "deprecated",  "examples", "example",         "description",      "readOnly",
    "writeOnly", "$vocabulary", "id",       "contentEncoding", "contentMediaType", "discriminator"};

struct Keyword {
    std::string_view name, type;  // the type that it is about; empty: none, or all
};
constexpr Keyword keywords[] = {{"$ref", ""},
                                {"allOf", ""},
                                {"anyOf", ""},
                                {"oneOf", ""},
                                {"type", ""},
                                {"enum", ""},
                                {"const", ""},
                                {"properties", "object"},
                                {"required", "object"},
                                {"additionalProperties", "object"},
                                {"items", "array"},
                                {"prefixItems", "array"},
                                {"additionalItems", "array"},
                                {"minItems", "array"},
                                {"maxItems", "array"},
                                {"minLength", "string"},
                                {"maxLength", "string"},
                                {"pattern", "string"},
                                {"format", "string"},
                                {"minimum", "number"},
                                {"maximum", "number"},
                                {"exclusiveMinimum", "number"},
                                {"exclusiveMaximum", "number"}};

constexpr std::string_view all_types[] = {"object",  "array",   "string", "number",
                                          "integer", "boolean", "null"};

}  // namespace

bool is_annotation(std::string_view keyword) {
    return std::ranges::find(annotations, keyword) != std::end(annotations) ||
           keyword.starts_with("x-");
}

bool is_known(std::string_view keyword) {
    return std::ranges::find(keywords, keyword, &Keyword::name) != std::end(keywords);
}

bool is_harmless(std::string_view keyword, const Json& value) {
    if (keyword == "uniqueItems" || keyword == "nullable") return value == false;
    if (keyword == "minProperties") return value == 0;
    if (keyword == "propertyNames") return value == true || value == Json({{"type", "string"}});
    if (keyword == "patternProperties") return value == Json::object();
    return false;
}

Types types_of(const Json& schema) {
    Types types;
    if (const auto said = schema.find("type"); said != schema.end()) {
        const Json list = said->is_array() ? *said : Json::array({*said});
        for (const Json& each : list) {
            const bool known =
                each.is_string() &&
                std::ranges::find(all_types, each.get<std::string>()) != std::end(all_types);
            if (!known)
                throw Error("type " + gguf::in_quotes(each.dump()) +
                            " is none of object, array, string, number, integer, boolean, null");
            types.push_back(each);
        }
        if (types.empty()) throw Error("type has no type in it");
        return types;
    }
    for (const std::string_view type : all_types)
        if (std::ranges::any_of(keywords, [&](const Keyword& keyword) {
                return keyword.type == type && schema.contains(keyword.name);
            }))
            types.emplace_back(type);
    if (types.empty()) types = {"object", "array", "string", "number", "boolean", "null"};
    return types;
}

Types both(const Types& some, const Types& others) {
    const auto has = [](const Types& types, std::string_view type) {
        return std::ranges::find(types, type) != types.end();
    };
    Types result;
    for (const std::string& type : some)
        if (has(others, type) || (type == "integer" && has(others, "number")))
            result.push_back(type);
        else if (type == "number" && has(others, "integer") && !has(some, "integer"))
            result.emplace_back("integer");
    return result;
}

bool is_of(const Json& value, const Types& types) {
    return std::ranges::any_of(types, [&](const std::string& type) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "null") return value.is_null();
        if (type == "number") return value.is_number();
        return value.is_number_integer() ||
               (value.is_number() && value.get<double>() == std::floor(value.get<double>()));
    });
}

bool has_others(const Json& schema, std::initializer_list<std::string_view> keywords) {
    for (const auto& [key, value] : schema.items())
        if (!is_annotation(key) && !is_harmless(key, value) &&
            std::ranges::find(keywords, key) == keywords.end())
            return true;
    return false;
}

std::string below(const std::string& place, std::string_view name) {
    std::string all = place + "/";
    for (const char c : name)
        all += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
    return all;
}

}  // namespace tandem::model::grammar::schema
