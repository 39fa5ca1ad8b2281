// Values of each type.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/grammar/schema/converter.h"
#include "model/grammar/schema/notation.h"
#include "model/grammar/schema/numbers.h"
#include "model/grammar/schema/pattern.h"
#include "model/grammar/schema/rules.h"
#include "model/grammar/syntax.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::grammar::schema {

namespace {

constexpr int64_t unlimited = -1;
constexpr size_t longest_name = 1000;  // of a property, where others have to be told from it

// "{2,5}" behind what is repeated.
std::string times(int64_t least, int64_t most) {
    if (least == 0 && most == unlimited) return "*";
    if (least == 1 && most == 1) return "";
    if (least == most) return "{" + std::to_string(least) + "}";
    return "{" + std::to_string(least) + "," + (most == unlimited ? "" : std::to_string(most)) +
           "}";
}

// The names of properties, by their characters.
struct Letters {
    std::map<std::string, Letters> next;
    bool ends = false;  // a name does here
};

void add_name(Letters& letters, std::string_view name) {
    Letters* at = &letters;
    while (!name.empty()) {
        const std::string_view character = front_character(name);
        // Such a name has an escape in it, which other names begin without.
        if (uint8_t(character[0]) < 0x20 || character == "\"" || character == "\\") return;
        at = &at->next[std::string(character)];
        name.remove_prefix(character.size());
    }
    at->ends = true;
}

}  // namespace

// An object or array is between what is around it and what is inside.
std::string Converter::inside(const Json& schema, const std::string& place) {
    std::set<std::string> around;
    std::swap(around, open_);
    std::string expression = convert(schema, place);
    std::swap(around, open_);
    return expression;
}

std::vector<Converter::Member> Converter::members(const Json& schema, const std::string& place) {
    const Json properties = schema.value("properties", Json::object());
    const Json required = schema.value("required", Json::array());
    const auto is_required = [&](const std::string& name) {
        return std::ranges::find(required, Json(name)) != required.end();
    };
    std::vector<Member> members;
    const auto add = [&](const std::string& name, const Json& property, const std::string& where) {
        if (property == false && is_required(name))
            fail(where, "a property that is required has the schema false");
        if (property == false) return;
        const std::string value = inside(property, where);
        members.push_back({literal(Json(name).dump() + ":") + " " + need("white") + " " + value,
                           is_required(name)});
    };
    for (const auto& [name, property] : properties.items())
        add(name, property, below(below(place, "properties"), name));
    const Json others = schema.value("additionalProperties", Json(true));
    std::set<std::string> added;
    for (const Json& name : required)
        if (!properties.contains(name.get<std::string>()) && added.insert(name).second)
            add(name, others, below(place, "additionalProperties"));
    return members;
}

std::string Converter::other_name(const std::vector<std::string>& names, const std::string& place) {
    if (names.empty()) return need("string");
    Letters letters;
    for (const std::string& name : names) {
        if (name.size() > longest_name)
            fail(place,
                 "additionalProperties is not supported beside a property whose name has "
                 "more than " +
                     std::to_string(longest_name) + " bytes");
        add_name(letters, name);
    }
    need("character");
    // Each place in the names is a rule: what may stand behind it.
    std::vector<std::pair<std::string, const Letters*>> work{{new_name("name"), &letters}};
    const std::string first = work[0].first;
    for (size_t done = 0; done < work.size(); ++done) {
        const auto [name, at] = work[done];
        std::string body;
        std::vector<Range> known{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
        for (const auto& [character, next] : at->next) {
            const char32_t code = code_point(character);
            known.push_back({code, code});
            work.emplace_back(new_name("name"), &next);
            body += literal(character) + " " + work.back().first + " | ";
        }
        body += characters(CharacterSet(std::move(known)).complement()) + " character*";
        if (!at->ends) body += " | \"\"";
        rules_.emplace_back(name, body);
    }
    return R"("\"" )" + first + R"( "\"")";
}

// Members in their order, with commas between those that are there.
std::string Converter::sequence(const std::vector<Member>& members, const std::string& others) {
    need("white");
    const std::string comma = R"(white "," white )";
    std::string more;  // what may follow a member, all that is behind it
    if (!others.empty()) more = rule("more", "(" + comma + others + ")*");
    std::string firsts, all_optional = "\"\"";
    if (!others.empty()) all_optional = "(" + others + " " + more + " white)?";
    // From the last on: it may be the first that is there if those before it are optional.
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
        const std::string as_first =
            member->expression + (more.empty() ? "" : " " + more) + " white";
        firsts = member->required || firsts.empty() ? as_first : as_first + " | " + firsts;
        if (member->required) all_optional.clear();
        const std::string follows = "(" + comma + member->expression + ")" +
                                    (member->required ? "" : "?") +
                                    (more.empty() ? "" : " " + more);
        more = std::next(member) == members.rend() ? "" : rule("more", follows);
    }
    if (all_optional.empty()) return "(" + firsts + ")";
    return firsts.empty() ? all_optional : "(" + firsts + " | " + all_optional + ")";
}

std::string Converter::object(const Json& schema, const std::string& place) {
    const bool any = !schema.contains("properties") && !schema.contains("required") &&
                     schema.value("additionalProperties", Json(true)) == true;
    if (any) return need("object");
    const std::vector<Member> known = members(schema, place);
    const bool lists = schema.contains("properties") || schema.contains("required");
    const Json more = schema.value("additionalProperties", Json(!lists));
    std::string others;
    if (more != false) {
        std::vector<std::string> names = schema.value("required", std::vector<std::string>());
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [name, property] : properties.items()) names.push_back(name);
        others = other_name(names, place) + " \":\" " + need("white") + " " +
                 inside(more, below(place, "additionalProperties"));
    }
    return rule("object", "\"{\" " + need("white") + " " + sequence(known, others) + " \"}\"");
}

std::string Converter::elements(std::span<const std::string> first, const std::string& rest,
                                int64_t least, int64_t most) {
    const std::string comma = R"(white "," white )";
    const auto known = int64_t(first.size());
    std::string more;  // behind the known ones
    if (!rest.empty() && known > 0)
        more = "(" + comma + rest + ")" +
               times(std::max<int64_t>(least - known, 0), most == unlimited ? most : most - known);
    if (known == 0) {
        if (rest.empty() || most == 0) return {};
        const std::string all =
            rest + " (" + comma + rest + ")" +
            times(std::max<int64_t>(least - 1, 0), most == unlimited ? most : most - 1) + " white";
        return least > 0 ? all : "(" + all + ")?";
    }
    for (int64_t i = known - 1; i > 0; --i) {
        const std::string here = comma + first[size_t(i)] + (more.empty() ? "" : " " + more);
        more = i >= least ? "(" + rule("more", here) + ")?" : here;
    }
    const std::string all = first[0] + (more.empty() ? "" : " " + more) + " white";
    return least > 0 ? all : "(" + all + ")?";
}

std::string Converter::array(const Json& schema, const std::string& place) {
    const Json items = schema.value("items", Json());
    const bool old_tuple = items.is_array();
    if (!old_tuple && schema.contains("additionalItems"))
        fail(place, "additionalItems is only supported beside a list of items");
    if (old_tuple && schema.contains("prefixItems"))
        fail(place, "both prefixItems and a list of items are given");
    const Json first = old_tuple ? items : schema.value("prefixItems", Json::array());
    const Json rest = schema.value(old_tuple ? "additionalItems" : "items", Json());
    const auto known = int64_t(first.size());
    int64_t most = count(schema, "maxItems", unlimited, place);
    // A list of schemas is taken for that of all elements, unless something says otherwise.
    const int64_t usual = most == unlimited ? known : std::min(known, most);
    const int64_t least = count(schema, "minItems", usual, place);
    if (most != unlimited && least > most) fail(place, "minItems is larger than maxItems");
    const bool has_rest = rest != false && (!rest.is_null() || known == 0 || least > known);
    if (!has_rest && least > known) fail(place, "minItems is larger than the list of items");
    if (!has_rest && most == unlimited) most = known;
    std::vector<std::string> parts;
    const std::string list = below(place, old_tuple ? "items" : "prefixItems");
    for (int64_t i = 0; i < known && (most == unlimited || i < most); ++i)
        parts.push_back(inside(first[size_t(i)], below(list, std::to_string(i))));
    std::string other;
    if (has_rest && (most == unlimited || most > known)) {
        const std::string value =
            rest.is_null() ? need("value")
                           : inside(rest, below(place, old_tuple ? "additionalItems" : "items"));
        other = value.find_first_of(" \"[(") == value.npos ? value : rule("item", value);
    }
    const std::string inner = elements(parts, other, least, most);
    return rule("array", "\"[\" " + need("white") + " " + inner + " \"]\"");
}

std::string Converter::text(const Json& schema, const std::string& place) {
    const bool lengths = schema.contains("minLength") || schema.contains("maxLength");
    const bool has_pattern = schema.contains("pattern"), has_format = schema.contains("format");
    if (lengths + has_pattern + has_format > 1)
        fail(place,
             "of pattern, format and the lengths of a string only one at a time is "
             "supported");
    std::string body;
    if (has_pattern) {
        if (!schema["pattern"].is_string()) fail(place, "pattern is a text");
        body = at(place,
                  [&] { return pattern(schema["pattern"].get<std::string>(), need("character")); });
    } else if (has_format) {
        const std::string format =
            schema["format"].is_string() ? schema["format"].get<std::string>() : std::string();
        if (!rule_of_format(format))
            fail(place, "the format " + gguf::in_quotes(schema["format"].dump()) +
                            " is not supported; there are date, time, date-time and uuid");
        body = need(rule_of_format(format)->name);
    } else if (lengths) {
        const int64_t least = count(schema, "minLength", 0, place);
        const int64_t most = count(schema, "maxLength", unlimited, place);
        if (most != unlimited && least > most) fail(place, "minLength is larger than maxLength");
        body = need("character") + times(least, most);
    } else {
        return need("string");
    }
    return R"("\"" )" + body + R"( "\"")";
}

std::string Converter::number(const Json& schema, bool whole, const std::string& place) {
    std::optional<Bound> least, most;
    const auto read = [&](const char* keyword, bool lower, bool excluded) {
        const auto found = schema.find(keyword);
        if (found == schema.end()) return;
        if (!found->is_number()) fail(place, std::string(keyword) + " is a number");
        const double value = found->get<double>();
        if (!(std::abs(value) < 9e18))
            fail(place, std::string(keyword) + " is " + found->dump() +
                            ", and numbers of more than 18 digits are not supported");
        Bound bound{int64_t(std::floor(value)), excluded};
        if (found->is_number_integer()) bound.value = found->get<int64_t>();
        const bool is_whole = found->is_number_integer() || value == std::floor(value);
        if (!is_whole && !whole)
            fail(place, std::string(keyword) + " is " + found->dump() +
                            ", and of numbers that are not whole only whole limits are supported");
        if (whole) {
            if (!is_whole)
                bound.value += lower;
            else if (excluded)
                bound.value += lower ? 1 : -1;
            bound.excluded = false;
        }
        std::optional<Bound>& other = lower ? least : most;
        const bool tighter =
            !other || (lower ? bound.value > other->value : bound.value < other->value);
        if (tighter)
            other = bound;
        else if (bound.value == other->value)
            other->excluded |= excluded && !whole;
    };
    read("minimum", true, false);
    read("exclusiveMinimum", true, true);
    read("maximum", false, false);
    read("exclusiveMaximum", false, true);
    if (!least && !most) return need(whole ? "integer" : "number");
    std::string expression;
    if (whole) {
        std::optional<int64_t> low, high;
        if (least) low = least->value;
        if (most) high = most->value;
        expression = whole_numbers(low, high);
    } else {
        expression = numbers(least, most);
    }
    if (expression.empty()) fail(place, "no number is between the limits");
    return expression;
}

}  // namespace tandem::model::grammar::schema
