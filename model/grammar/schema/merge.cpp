#include "model/grammar/schema/merge.h"

#include <algorithm>

#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::model::grammar::schema {

namespace {

bool contains(const Json& list, const Json& value) {
    return std::ranges::find(list, value) != list.end();
}

// Both of two schemas, later.
Json both_of(const Json& one, const Json& other) {
    if (one == true) return other;
    if (other == true || one == other) return one;
    return {{"allOf", Json::array({one, other})}};
}

bool has_tuple(const Json& schema) {
    return schema.contains("prefixItems") ||
           (schema.contains("items") && schema["items"].is_array());
}

// Rules about what other properties are like hold for those of the other schema.
void apply_to_others(const Json& schema, Json& other) {
    const auto rule = schema.find("additionalProperties");
    const auto properties = other.find("properties");
    if (rule == schema.end() || *rule == true || properties == other.end()) return;
    const Json own = schema.value("properties", Json::object());
    for (auto& [name, property] : properties->items()) {
        if (own.contains(name)) continue;
        if (*rule == false)
            throw Error("additionalProperties forbids the property " + gguf::in_quotes(name) +
                        ", which a schema that is to hold as well has");
        property = both_of(property, *rule);
    }
}

Json merged_value(const std::string& key, const Json& one, const Json& other) {
    if (key == "properties") {
        Json all = one;
        for (const auto& [name, property] : other.items())
            all[name] = all.contains(name) ? both_of(all[name], property) : property;
        return all;
    }
    if (key == "required") {
        Json all = one;
        for (const Json& name : other)
            if (!contains(all, name)) all.push_back(name);
        return all;
    }
    if (key == "enum") {
        Json all = Json::array();
        for (const Json& value : one)
            if (contains(other, value)) all.push_back(value);
        return all;
    }
    if (key == "type") {
        const Types all = both(types_of({{"type", one}}), types_of({{"type", other}}));
        if (all.empty()) throw Error("no type is in both schemas that are to hold");
        return all;
    }
    const bool numbers = one.is_number() && other.is_number();
    if (numbers &&
        (key == "minimum" || key == "exclusiveMinimum" || key == "minLength" || key == "minItems"))
        return one < other ? other : one;
    if (numbers &&
        (key == "maximum" || key == "exclusiveMaximum" || key == "maxLength" || key == "maxItems"))
        return one < other ? one : other;
    if (key == "items" || key == "additionalProperties") {
        if (one == false || other == false) return false;
        if (!one.is_array() && !other.is_array()) return both_of(one, other);
    }
    throw Error("two schemas that are to hold both have " + key + ", and it differs");
}

double limit(const Json& schema, const char* key, const char* excluding, double none) {
    double value = none;
    for (const char* name : {key, excluding})
        if (const auto found = schema.find(name); found != schema.end() && found->is_number())
            value = none < 0 ? std::max(value, found->get<double>())
                             : std::min(value, found->get<double>());
    return value;
}

// Numbers of one are all below those of the other.
bool below_all(const Json& schema, const Json& other) {
    const double most = limit(schema, "maximum", "exclusiveMaximum", 1e308);
    const double least = limit(other, "minimum", "exclusiveMinimum", -1e308);
    const bool excluded = schema.value("exclusiveMaximum", Json()) == most ||
                          other.value("exclusiveMinimum", Json()) == least;
    return most < least || (most == least && excluded);
}

bool requires_property(const Json& schema, const std::string& name) {
    return schema.contains("required") && contains(schema["required"], name);
}

bool has_property(const Json& schema, const std::string& name) {
    return schema.contains("properties") && schema["properties"].contains(name);
}

// Whether objects that are written by the first are none of the second.
bool objects_avoid(const Json& schema, const Json& other) {
    const Json more = schema.value("additionalProperties", Json(false));
    for (const Json& name : other.value("required", Json::array()))
        if (more == false && !has_property(schema, name) && !requires_property(schema, name))
            return true;
    for (const Json& name : schema.value("required", Json::array()))
        if (other.value("additionalProperties", Json()) == false && !has_property(other, name))
            return true;
    return false;
}

bool objects_exclude(const Json& schema, const Json& other) {
    if (objects_avoid(schema, other) && objects_avoid(other, schema)) return true;
    for (const Json& name : schema.value("required", Json::array())) {
        if (!requires_property(other, name) || !has_property(schema, name) ||
            !has_property(other, name))
            continue;
        const Json &one = schema["properties"][name.get<std::string>()],
                   &two = other["properties"][name.get<std::string>()];
        const auto plain = [](const Json& each) {
            return each.is_object() && !each.contains("$ref") && !each.contains("allOf");
        };
        if (plain(one) && plain(two) && exclude_each_other(one, two)) return true;
    }
    return false;
}

// A schema that is about objects without saying that values are some has all that are none, too,
// though they are not written.
Types allowed_types(const Json& schema) {
    return schema.contains("type") ? types_of(schema) : types_of(Json::object());
}

Types written_types(const Json& schema) {
    const bool choice = schema.contains("anyOf") || schema.contains("oneOf");
    return choice ? allowed_types(schema) : types_of(schema);
}

// The only values that a schema has; null where there are others.
Json values_of(const Json& schema) {
    if (schema.contains("const")) return Json::array({schema["const"]});
    return schema.value("enum", Json());
}

}  // namespace

Json merged(const Json& schema, const Json& other) {
    Json one = schema, two = other;
    if (has_tuple(one) != has_tuple(two) && (one.contains("items") && two.contains("items")))
        throw Error("two schemas that are to hold both have items, and one of them in order");
    if ((one.contains("prefixItems") && two.contains("items") && !one.contains("items")) ||
        (two.contains("prefixItems") && one.contains("items") && !two.contains("items")))
        throw Error("of two schemas that are to hold one has items, the other prefixItems");
    apply_to_others(one, two);
    apply_to_others(two, one);
    for (const auto& [key, value] : two.items()) {
        if (is_annotation(key)) continue;
        const auto found = one.find(key);
        if (found == one.end())
            one[key] = value;
        else if (*found != value)
            *found = merged_value(key, *found, value);
    }
    return one;
}

bool exclude_each_other(const Json& schema, const Json& other) {
    const Json values = values_of(schema), others = values_of(other);
    const auto none_in = [](const Json& list, const auto& holds) {
        return std::ranges::none_of(list, holds);
    };
    if (values.is_array() && others.is_array())
        return none_in(values, [&](const Json& value) { return contains(others, value); });
    const Types types = allowed_types(schema), other_types = allowed_types(other);
    if (values.is_array())
        return none_in(values, [&](const Json& value) { return is_of(value, other_types); });
    if (others.is_array())
        return none_in(others, [&](const Json& value) { return is_of(value, types); });
    Types common = both(written_types(schema), other_types);
    const Types more = both(types, written_types(other));
    common.insert(common.end(), more.begin(), more.end());
    return std::ranges::all_of(common, [&](const std::string& type) {
        if (type == "object") return objects_exclude(schema, other);
        const bool number = type == "number" || type == "integer";
        return number && (below_all(schema, other) || below_all(other, schema));
    });
}

}  // namespace tandem::model::grammar::schema
