#include "model/grammar/schema/rules.h"

#include <algorithm>
#include <string>

namespace tandem::model::grammar::schema {

namespace {

// White space is where people put it, and never so much that a model could go on with it forever.
// Escapes of UTF-16 come in pairs where a character needs two, and a pair is one character.
constexpr SharedRule rules[] = {
    {"white", R"(("\n" [ \t]{0,20} | " ")?)"},
    {"character", R"([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" unit))", "unit "},
    {"unit",
     R"([0-9abcefABCEF] hex{3} | [dD] [0-7] hex{2} | [dD] [89abAB] hex{2} "\\u" [dD] [c-fC-F] hex{2})",
     "hex "},
    {"hex", "[0-9a-fA-F]"},
    {"string", R"("\"" character* "\"")", "character "},
    {"integer", R"("0" | "-"? [1-9] [0-9]{0,15})"},
    {"number", R"("-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?)"},
    {"boolean", R"("true" | "false")"},
    {"null", R"("null")"},
    {"value", "object | array | string | number | boolean | null",
     "object array string number boolean null "},
    {"member", R"(string ":" white value)", "string white value "},
    {"object", R"("{" white (member white ("," white member white)*)? "}")", "white member "},
    {"array", R"("[" white (value white ("," white value white)*)? "]")", "white value "},
    {"format-date", R"(year "-" day | leap-year "-02-29")", "year leap-year day "},
    {"year", "[0-9]{4}"},
    {"leap-year",
     R"([0-9]{2} ("0" [48] | [2468] [048] | [13579] [26]) | ([02468] [048] | [13579] [26]) "00")"},
    {"day", R"(("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | )"
            R"(("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | )"
            R"("02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))"},
    {"format-time", R"(hour ":" sixtieth ":" sixtieth ("." [0-9]{1,9})? zone)",
     "hour sixtieth zone "},
    {"hour", R"([01] [0-9] | "2" [0-3])"},
    {"sixtieth", "[0-5] [0-9]"},
    {"zone", R"("Z" | [-+] hour ":" sixtieth)", "hour sixtieth "},
    {"format-date-time", R"(format-date "T" format-time)", "format-date format-time "},
    {"format-uuid", R"(hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12})", "hex "},
};

}  // namespace

std::span<const SharedRule> shared_rules() { return rules; }

const SharedRule* rule_of_format(std::string_view format) {
    const std::string name = "format-" + std::string(format);
    const auto found = std::ranges::find(rules, std::string_view(name), &SharedRule::name);
    return found == std::end(rules) ? nullptr : &*found;
}

}  // namespace tandem::model::grammar::schema
