#include "model/grammar/schema/converter.h"

#include <algorithm>
#include <utility>

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/grammar/schema/merge.h"
#include "model/grammar/schema/notation.h"
#include "model/grammar/schema/rules.h"
#include "model/grammar/syntax.h"

namespace tandem::model::grammar::schema {

namespace {

constexpr int most_nested = 100;
constexpr int64_t most_work = 100000;  // schemas that are read, again and again where merged

// Counts a level of nesting.
class Level {
  public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

  private:
    int& depth_;
};

Json without(Json schema, std::initializer_list<const char*> keywords) {
    for (const char* keyword : keywords) schema.erase(keyword);
    return schema;
}

}  // namespace

void Converter::fail(const std::string& place, const std::string& what) const {
    throw Error(source_ + ": JSON schema at " + gguf::in_quotes(place, 400) + ": " + what);
}

std::string Converter::new_name(const std::string& kind) {
    return kind + "-" + std::to_string(++counters_[kind]);
}

std::string Converter::rule(const std::string& kind, const std::string& body) {
    std::string name = new_name(kind);
    rules_.emplace_back(name, body);
    return name;
}

std::string Converter::need(std::string_view shared) {
    if (!needed_.emplace(shared).second) return std::string(shared);
    const auto found = std::ranges::find(shared_rules(), shared, &SharedRule::name);
    check(found != shared_rules().end(), "a rule that grammars of schemas share exists");
    rules_.emplace_back(shared, found->body);
    for (std::string_view names = found->needs; !names.empty();) {
        const size_t length = names.find(' ');
        need(names.substr(0, length));
        names.remove_prefix(length + 1);
    }
    return std::string(shared);
}

std::string Converter::grammar() {
    std::string root;
    if (document_ == Json::object())
        root = need("object");
    else
        root = convert(document_, "#");
    std::string text = "root ::= " + root + "\n";
    for (const auto& [name, body] : rules_) text += name + " ::= " + body + "\n";
    return text;
}

void Converter::check_keywords(const Json& schema, const std::string& place) const {
    const auto shape = [&](const char* keyword, bool good, const char* expected) {
        if (!good) fail(place, std::string(keyword) + " is " + expected);
    };
    for (const auto& [key, value] : schema.items()) {
        if (is_annotation(key) || is_harmless(key, value)) continue;
        if (!is_known(key))
            fail(place, "the keyword " + gguf::in_quotes(key) + " is not supported");
        if (key == "properties") shape("properties", value.is_object(), "an object of schemas");
        if (key == "required")
            shape("required", value.is_array() && std::ranges::all_of(value, &Json::is_string),
                  "a list of names");
        if (key == "enum") shape("enum", value.is_array(), "a list of values");
        for (const char* list : {"allOf", "anyOf", "oneOf", "prefixItems"})
            if (key == list)
                shape(list, value.is_array() && !value.empty(), "a list of one schema or more");
    }
}

int64_t Converter::count(const Json& schema, const char* keyword, int64_t fallback,
                         const std::string& place) const {
    const auto found = schema.find(keyword);
    if (found == schema.end()) return fallback;
    const bool whole = is_of(*found, {"integer"});
    if (!whole || found->get<double>() < 0)
        fail(place, std::string(keyword) + " is a whole number, 0 or more");
    if (found->get<double>() > most_repetitions)
        fail(place, std::string(keyword) + " is " + found->dump() + ", and at most " +
                        std::to_string(most_repetitions) + " can be counted");
    return int64_t(found->get<double>());
}

const Json& Converter::target(const Json& pointer, const std::string& place) const {
    const std::string said = pointer.is_string() ? pointer.get<std::string>() : std::string();
    if (said != "#" && !said.starts_with("#/"))
        fail(place, "$ref " + gguf::in_quotes(pointer.dump()) +
                        " is not supported: only places of the schema itself are, \"#/...\"");
    std::string plain;  // %41 stands for a byte
    for (size_t i = 1; i < said.size(); ++i) {
        const auto digit = [&](size_t at) {
            return at < said.size()
                       ? std::string_view("0123456789abcdef")
                             .find(char(said[at] >= 'A' && said[at] <= 'F' ? said[at] + 32
                                                                           : said[at]))
                       : std::string_view::npos;
        };
        const size_t high = digit(i + 1), low = digit(i + 2);
        const bool escaped =
            said[i] == '%' && high != std::string_view::npos && low != std::string_view::npos;
        plain += escaped ? char(high * 16 + low) : said[i];
        if (escaped) i += 2;
    }
    try {
        return document_.at(Json::json_pointer(plain));
    } catch (const Json::exception&) {
        fail(place, "$ref " + gguf::in_quotes(said) + " leads nowhere");
    }
}

std::string Converter::reference(const Json& pointer, const std::string& place) {
    const Json& schema = target(pointer, place);
    const std::string said = pointer;
    if (open_.contains(said))
        fail(place, "$ref " + gguf::in_quotes(said) +
                        " leads to itself without an object or array between");
    if (const auto known = references_.find(said); known != references_.end()) return known->second;
    const std::string name = new_name("ref");
    references_.emplace(said, name);
    open_.insert(said);
    const std::string body = convert(schema, said);
    open_.erase(said);
    rules_.emplace_back(name, body);
    return name;
}

Json Converter::flatten(const Json& schema, const std::string& place) {
    const Level level(depth_);
    if (depth_ > most_nested) fail(place, "the schema is nested too deeply");
    if (++work_ > most_work) fail(place, "the schema is too large, with all its parts merged");
    if (schema == true) return Json::object();
    if (schema == false) fail(place, "false allows no value");
    if (!schema.is_object()) fail(place, "a schema is an object, true or false");
    check_keywords(schema, place);
    Json all = without(schema, {"$ref", "allOf"});
    const auto add = [&](const Json& other, const std::string& other_place) {
        const Json flat = flatten(other, other_place);
        all = at(other_place, [&] { return merged(all, flat); });
    };
    if (schema.contains("$ref")) {
        const Json& pointer = schema["$ref"];
        const Json& other = target(pointer, place);
        const std::string said = pointer;
        if (!open_.insert(said).second)
            fail(place, "$ref " + gguf::in_quotes(said) +
                            " leads to itself without an object or array between");
        add(other, said);
        open_.erase(said);
    }
    if (schema.contains("allOf"))
        for (size_t i = 0; i < schema["allOf"].size(); ++i)
            add(schema["allOf"][i], below(below(place, "allOf"), std::to_string(i)));
    return all;
}

std::string Converter::convert(const Json& schema, const std::string& place) {
    const Level level(depth_);
    if (depth_ > most_nested) fail(place, "the schema is nested too deeply");
    if (schema == true || schema == Json::object()) return need("value");
    if (schema.is_object() && schema.contains("$ref") && !has_others(schema, {"$ref"}))
        return reference(schema["$ref"], place);
    return convert_plain(flatten(schema, place), place);
}

std::string Converter::convert_plain(const Json& schema, const std::string& place) {
    const Level level(depth_);  // alternatives may lead to themselves, merged with what is beside
    if (depth_ > most_nested) fail(place, "the schema is nested too deeply");
    for (const char* keyword : {"anyOf", "oneOf"})
        if (schema.contains(keyword)) return alternatives(schema, keyword, place);
    if (schema.contains("const") || schema.contains("enum")) return convert_values(schema, place);
    if (!has_others(schema, {})) return need("value");
    const Types types = at(place, [&] { return types_of(schema); });
    if (types.size() == 1) return convert_type(schema, types[0], place);
    std::string all;
    for (const std::string& type : types)
        all += (all.empty() ? "" : " | ") + convert_type(schema, type, place);
    return "(" + all + ")";
}

std::string Converter::alternatives(const Json& schema, const std::string& keyword,
                                    const std::string& place) {
    const Json base = without(schema, {keyword.c_str()});
    const Json& list = schema[keyword];
    const bool alone = !has_others(base, {});
    std::string all;
    std::vector<Json> flat;
    for (size_t i = 0; i < list.size(); ++i) {
        const std::string here = below(below(place, keyword), std::to_string(i));
        if (!alone || keyword == "oneOf") {
            const Json own = flatten(list[i], here);
            flat.push_back(at(here, [&] { return merged(base, own); }));
        }
        all += (all.empty() ? "" : " | ") +
               (alone ? convert(list[i], here) : convert_plain(flat.back(), here));
    }
    if (keyword == "oneOf")
        for (size_t i = 0; i < flat.size(); ++i)
            for (size_t j = 0; j < i; ++j)
                if (!at(place, [&] { return exclude_each_other(flat[i], flat[j]); }))
                    fail(place, "oneOf: nothing shows that a value of schema " + std::to_string(j) +
                                    " is none of schema " + std::to_string(i) +
                                    "; anyOf takes values of both");
    return "(" + all + ")";
}

std::string Converter::convert_values(const Json& schema, const std::string& place) {
    if (has_others(schema, {"const", "enum", "type"}))
        fail(place, "enum and const are not supported beside keywords other than type");
    Json values = schema.contains("enum") ? schema["enum"] : Json::array({schema["const"]});
    const Json only = schema.value("const", Json());
    std::string all;
    const Types types =
        at(place, [&] { return types_of(schema.contains("type") ? schema : Json::object()); });
    for (const Json& value : values) {
        if (schema.contains("const") && value != only) continue;
        if (is_of(value, types)) all += (all.empty() ? "" : " | ") + literal(value.dump());
    }
    if (all.empty()) fail(place, "no value of enum or const is allowed by all else");
    return "(" + all + ")";
}

std::string Converter::convert_type(const Json& schema, const std::string& type,
                                    const std::string& place) {
    if (type == "object") return object(schema, place);
    if (type == "array") return array(schema, place);
    if (type == "string") return text(schema, place);
    if (type == "number" || type == "integer") return number(schema, type == "integer", place);
    return need(type);
}

}  // namespace tandem::model::grammar::schema
