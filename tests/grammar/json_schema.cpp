// JSON schemas: values that their grammars have and have not, and what they are refused for.
#include <gtest/gtest.h>

#include "grammar/matching.h"
#include "model/grammar/json_schema.h"

namespace tandem::test {

namespace {

using model::grammar::grammar_of_schema;

struct Case {
    const char* schema;
    std::vector<std::string> values, others;
};

void expect(const Case& each) {
    Matcher matcher{Grammar(grammar_of_schema(each.schema))};
    for (const std::string& value : each.values)
        EXPECT_TRUE(matches(matcher, value)) << each.schema << "\n" << value;
    for (const std::string& value : each.others)
        EXPECT_FALSE(matches(matcher, value)) << each.schema << "\n" << value;
}

std::string error_in(const std::string& schema) {
    return error_of([&] { Grammar(grammar_of_schema(schema, "s"), "s"); });
}

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

TEST(JsonSchema, any_value_and_types) {
    const Case cases[] = {
        {"{}",
         {"{}", "{ }", R"({"a":1,"b":[{},null]})", "{\n  \"a\": true\n}"},
         {"[]", "1", "", "{,}"}},
        {"true", {"{}", "[1, \"a\"]", "-0.5e-3", "null"}, {"", "01", "[1,]", "nul", "{1:2}"}},
        {R"({"title": "x", "description": "y", "x-own": 1, "default": 3})", {"1", "{}"}, {"", "x"}},
        {R"({"type": "null", "uniqueItems": false, "minProperties": 0, "patternProperties": {},
            "propertyNames": {"type": "string"}})",
         {"null"},
         {"{}"}},
        {R"({"type": "null"})", {"null"}, {"0", "\"null\""}},
        {R"({"type": "boolean"})", {"true", "false"}, {"True", "1"}},
        {R"({"type": "integer"})", {"0", "-1", "1234"}, {"-0", "01", "1.0", "1e3", "+1", ""}},
        {R"({"type": "number"})", {"0", "-0.5", "1e9", "1E-9"}, {".5", "1.", "1e", "--1", "0x1"}},
        {R"({"type": ["string", "null"]})", {"\"\"", "null"}, {"0", "[]"}},
        {R"({"type": "object"})", {"{}", R"({"x":{"y":[]}})"}, {"[]"}},
        {R"({"type": "array"})", {"[]", "[[], 1, \"x\"]"}, {"{}", "[1 2]"}},
        {R"({"enum": [1, "a\"\n", null, {"b": [2]}]})",
         {"1", R"("a\"\n")", "null", R"({"b":[2]})"},
         {"2", "\"a\"", "[]"}},
        {R"({"enum": [1, "a", true], "type": ["integer", "boolean"]})", {"1", "true"}, {"\"a\""}},
        {R"({"const": "\u00e9/"})", {"\"\xc3\xa9/\""}, {"\"e/\"", "null"}},
    };
    for (const Case& each : cases) expect(each);
}

TEST(JsonSchema, strings) {
    const Case cases[] = {
        {R"({"type": "string"})",
         {R"("")", R"("a\"\\\/\b\f\n\r\t\u00e9")", "\"\xc3\xa9\xf0\x9f\x98\x80\x7f\"",
          R"("\ud83d\ude00")"},
         {"\"", "\"a\nb\"", R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ude00")", R"("\ud83dx")",
          "\"\x01\"", "a"}},
        {R"({"minLength": 2, "maxLength": 3})",
         {R"("ab")", R"("abc")", R"("\ud83d\ude00x")", "\"\xe2\x82\xac\xe2\x82\xac\""},
         {R"("a")", R"("abcd")", R"("")", "\"\xe2\x82\xac\"", "12"}},
        {R"({"type": "string", "minLength": 1})", {R"("a")"}, {R"("")"}},
        {R"({"type": "string", "maxLength": 0})", {R"("")"}, {R"("a")"}},
        {R"({"format": "date"})",
         {R"("2024-02-29")", R"("2000-02-29")", R"("2023-12-31")", R"("2023-04-30")"},
         {R"("2023-02-29")", R"("1900-02-29")", R"("2023-04-31")", R"("2023-00-10")",
          R"("2023-13-10")", R"("2023-01-00")", R"("2023-1-1")"}},
        {R"({"format": "time"})",
         {R"("23:59:59Z")", R"("00:00:00.123+02:30")"},
         {R"("24:00:00Z")", R"("12:60:00Z")", R"("12:00:00")", R"("12:00Z")"}},
        {R"({"format": "date-time"})",
         {R"("2024-02-29T12:00:00Z")"},
         {R"("2024-02-30T12:00:00Z")", R"("2024-02-29 12:00:00Z")", R"("2024-02-29")"}},
        {R"({"format": "uuid"})",
         {R"("123e4567-e89b-12d3-a456-426614174000")"},
         {R"("123e4567e89b12d3a456426614174000")", R"("123e4567-e89b-12d3-a456-42661417400g")"}},
    };
    for (const Case& each : cases) expect(each);
}

TEST(JsonSchema, patterns) {
    const Case cases[] = {
        {R"({"pattern": "^[A-Z]{2}-\\d+$"})",
         {R"("AB-1")", R"("AB-123")"},
         {R"("AB-")", R"("aB-1")", R"("xAB-1")"}},
        {R"({"pattern": "b+"})", {R"("b")", R"("abba")", R"("\"b")"}, {R"("")", R"("ac")"}},
        {R"({"pattern": "^a|b$"})", {R"("ax")", R"("xb")"}, {R"("xa")", R"("bx")"}},
        {R"({"pattern": "^(a|(?:bc)*?|(?<n>d))$"})",
         {R"("a")", R"("bcbc")", R"("d")", R"("")"},
         {R"("abc")", R"("b")"}},
        {R"({"pattern": "^\"\\\\\\n.$"})",
         {R"("\"\\\nx")", R"("\"\\\n\"")"},
         {R"("\"\\\n\n")", R"("\"\\nx")"}},
        {R"({"pattern": "^[^a-c\"]$"})",
         {R"("d")", R"("\\")", R"("\n")", R"("\u0001")"},
         {R"("a")", R"("\"")", R"("\u0061")"}},
        {R"({"pattern": "^[\\w.+-]+@\\w+\\.(com|org)$"})",
         {R"("a.b+c@x.org")"},
         {R"("a@x.net")", R"("@x.org")"}},
        {R"({"pattern": "^\\u20ac\\s?\\D$"})",
         {"\"\xe2\x82\xac x\"", "\"\xe2\x82\xacx\""},
         {"\"\xe2\x82\xac 1\""}},
        {R"({"pattern": "^x{2,3}y{0}z{2}$"})",
         {R"("xxzz")", R"("xxxzz")"},
         {R"("xzz")", R"("xxyzz")"}},
        {R"({"pattern": ""})", {R"("")", R"("abc")"}, {"1"}},
    };
    for (const Case& each : cases) expect(each);
}

// Every limit against every number near it.
TEST(JsonSchema, whole_numbers_between_limits) {
    const int limits[] = {-1000, -101, -100, -99, -10, -9,  -1,  0,   1,
                          7,     9,    10,   11,  99,  100, 101, 999, 1050};
    for (const int least : limits)
        for (const int most : limits) {
            if (most < least) continue;
            for (const bool open : {false, true}) {
                if (open && most - least < 2) continue;
                const std::string low = open ? "exclusiveMinimum" : "minimum",
                                  high = open ? "exclusiveMaximum" : "maximum";
                Matcher matcher{Grammar(grammar_of_schema(
                    R"({"type": "integer", ")" + low + "\": " + std::to_string(least) + ", \"" +
                    high + "\": " + std::to_string(most) + "}"))};
                for (int value = -1200; value <= 1200; ++value)
                    ASSERT_EQ(matches(matcher, std::to_string(value)),
                              value >= least + open && value <= most - open)
                        << least << " " << most << " " << open << " " << value;
            }
        }
}

TEST(JsonSchema, numbers_between_limits) {
    const Case cases[] = {
        {R"({"type": "integer", "minimum": 5})", {"5", "9", "10", "99999999999"}, {"4", "-5", "0"}},
        {R"({"type": "integer", "maximum": -12})", {"-12", "-13", "-100"}, {"-11", "12", "0"}},
        {R"({"type": "integer", "minimum": 0.5, "maximum": 2.5})", {"1", "2"}, {"0", "3"}},
        {R"({"type": "integer", "minimum": -900000000000000000, "maximum": 900000000000000000})",
         {"-900000000000000000", "899999999999999999", "0"},
         {"900000000000000001", "-900000000000000001"}},
        {R"({"type": "number", "minimum": 0, "maximum": 1})",
         {"0", "0.0", "0.25", "1", "1.0"},
         {"-0.5", "-0", "1.01", "2", "1e3"}},
        {R"({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})",
         {"0.5", "0.001"},
         {"0", "0.0", "1", "1.0"}},
        {R"({"type": "number", "minimum": -2, "maximum": 12})",
         {"-2", "-2.0", "-1.99", "-0.1", "0", "11.99", "12", "12.0"},
         {"-2.01", "-3", "12.1", "-0.0", "-0"}},
        {R"({"type": "number", "maximum": -3})", {"-3", "-3.5", "-1000.25"}, {"-2.9", "0", "3"}},
        {R"({"type": "number", "exclusiveMinimum": -3})",
         {"-2.9", "0", "7.5"},
         {"-3", "-3.0", "-3.1"}},
        {R"({"minimum": 3})", {"3", "3.5"}, {"2", "\"a\""}},
    };
    for (const Case& each : cases) expect(each);
}

TEST(JsonSchema, objects) {
    const char* const person = R"({"type": "object", "properties": {"name": {"type": "string"},
        "age": {"type": "integer"}, "tag": {"type": "null"}}, "required": ["age"]})";
    const Case cases[] = {
        {person,
         {R"({"age":1})", R"({"name": "x", "age": 1})", R"({"age":1,"tag":null})",
          "{\n \"name\":\"x\",\n \"age\":1 , \"tag\":null }"},
         {"{}", R"({"name":"x"})", R"({"age":1,"name":"x"})", R"({"age":1,})", R"({"age":1,"x":2})",
          R"({"age":1,"age":1})", R"({,"age":1})", R"({"name":"x""age":1})"}},
        {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}}})",
         {"{}", R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})"},
         {R"({"b":2,"a":1})", R"({"c":3})", "1"}},
        {R"({"properties": {"a": {"const": 1}}, "additionalProperties": true})",
         {"{}", R"({"a":1,"b":[]})", R"({"b":2,"c":3})", R"({"ab":1})", R"({"":1})"},
         {R"({"a":2})", R"({"b":2,"a":1})", R"({"b":2,"a":2})", R"({"\u0061":2})"}},
        {R"({"properties": {"ab": true, "a": true, "b\"c": true}, "required": ["ab"],
            "additionalProperties": {"type": "null"}})",
         {R"({"ab":1})", R"({"ab":1,"abc":null,"b":null,"x\n":null})"},
         {R"({"ab":1,"ab":null})", R"({"ab":1,"x":1})", R"({"ab":1,"b\"c":1,"b\"c":null})",
          R"({"x":null})"}},
        {R"({"additionalProperties": {"type": "integer"}})",
         {"{}", R"({"a":1,"b":2})"},
         {R"({"a":"x"})"}},
        {R"({"type": "object", "additionalProperties": false})", {"{}"}, {R"({"a":1})"}},
        {R"({"required": ["a", "b"]})", {R"({"a":1,"b":[]})"}, {"{}", R"({"a":1})"}},
        {R"({"properties": {"a": false, "b": {"type": "null"}}})",
         {"{}", R"({"b":null})"},
         {R"({"a":1})"}},
        {R"({"properties": {"\u00e9\n/": {"type": "null"}}, "required": ["\u00e9\n/"]})",
         {"{\"\xc3\xa9\\n/\":null}"},
         {"{}"}},
    };
    for (const Case& each : cases) expect(each);
}

TEST(JsonSchema, arrays) {
    const Case cases[] = {
        {R"({"items": {"type": "integer"}})",
         {"[]", "[1]", "[ 1 , 2,\n3 ]"},
         {"[\"a\"]", "[1,]", "{}"}},
        {R"({"items": {"enum": [1]}, "minItems": 2, "maxItems": 3})",
         {"[1,1]", "[1,1,1]"},
         {"[]", "[1]", "[1,1,1,1]"}},
        {R"({"items": {}, "maxItems": 0})", {"[]"}, {"[1]"}},
        {R"({"items": false})", {"[]"}, {"[1]"}},
        {R"({"minItems": 1})", {"[1]", "[[],{}]"}, {"[]"}},
        {R"({"prefixItems": [{"type": "integer"}, {"type": "string"}]})",
         {R"([1,"a"])"},
         {"[1]", R"(["a",1])", R"([1,"a",2])"}},
        {R"({"prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 0})",
         {"[]", "[1]", R"([1,"a"])"},
         {R"(["a"])", R"([1,"a",2])"}},
        {R"({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}})",
         {"[1]", "[1,null,null]"},
         {"[]", "[1,1]"}},
        {R"({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}, "minItems": 3, "maxItems": 4})",
         {"[1,null,null]", "[1,null,null,null]"},
         {"[1,null]", "[1,null,null,null,null]"}},
        {R"({"prefixItems": [{"type": "integer"}, true], "maxItems": 1})",
         {"[1]"},
         {"[]", "[1,2]"}},
        {R"({"items": [{"type": "integer"}], "additionalItems": {"type": "null"}})",
         {"[1]", "[1,null]"},
         {"[null]", "[1,2]"}},
    };
    for (const Case& each : cases) expect(each);
}

TEST(JsonSchema, references_and_combinations) {
    const Case cases[] = {
        {R"({"$ref": "#/$defs/a%62~1", "$defs": {"ab/": {"type": "null"}}})", {"null"}, {"1"}},
        {R"({"$defs": {"node": {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
            "required": ["v"]}}, "$ref": "#/$defs/node"})",
         {R"({"v":1})", R"({"v":1,"next":{"v":2,"next":{"v":3}}})"},
         {"{}", R"({"v":1,"next":{}})"}},
        {R"({"type": "array", "items": {"$ref": "#"}})", {"[]", "[[],[[]]]"}, {"[1]"}},
        {R"({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]})",
         {"1", "[1,[2]]"},
         {"[null]"}},
        {R"({"properties": {"k": true}, "required": ["k"], "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]},
            {"properties": {"b": {"const": 2}}, "required": ["b"]}]})",
         {R"({"k":0,"a":1})", R"({"k":0,"b":2})"},
         {R"({"k":0})", R"({"a":1})", R"({"k":0,"a":2})"}},
        {R"({"oneOf": [{"type": "string"}, {"type": "null"}, {"maximum": 3, "type": "integer"}, {"minimum": 4, "type": "number"}]})",
         {"\"a\"", "null", "3", "4.5"},
         {"3.5", "[]"}},
        {R"({"type": "object", "allOf": [{"properties": {"a": {"type": "number"}}, "required": ["a"]},
            {"properties": {"a": {"type": "integer", "minimum": 3}, "b": {"maxLength": 1}}}]})",
         {R"({"a":3})", R"({"a":4,"b":"x"})"},
         {R"({"a":2})", R"({"a":3.5})", R"({"b":"x"})", R"({"a":3,"b":"xy"})"}},
        {R"({"allOf": [{"minLength": 1}, {"minLength": 2, "type": "string"}, {"maxLength": 3}, {"maxLength": 4}]})",
         {R"("ab")", R"("abc")"},
         {R"("a")", R"("abcd")"}},
        {R"({"$ref": "#/definitions/n", "minimum": 2, "definitions": {"n": {"type": "integer", "maximum": 4}}})",
         {"2", "4"},
         {"1", "5"}},
        {R"({"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}]})", {"2", "3"}, {"1", "4"}},
    };
    for (const Case& each : cases) expect(each);
    // A property that tells the kinds apart, as long as values are objects.
    expect({R"({"type": "object", "oneOf": [
                {"properties": {"t": {"const": "a"}, "x": true}, "required": ["t"]},
                {"properties": {"t": {"const": "b"}, "y": true}, "required": ["t"]}]})",
            {R"({"t":"a","x":1})", R"({"t":"b"})"},
            {R"({"t":"a","y":1})", "{}"}});
}

TEST(JsonSchema, errors_name_the_keyword_and_its_place) {
    const std::string at = "s: JSON schema at ";
    const std::pair<std::string, std::string> cases[] = {
        {"", "s: the JSON schema is no JSON from byte 1 on"},
        {"{\"a\": }", "s: the JSON schema is no JSON from byte 7 on"},
        {"3", at + "\"#\": a schema is an object, true or false"},
        {"false", at + "\"#\": false allows no value"},
        {R"({"properties": {"a/b": {"not": {}}}})",
         at + "\"#/properties/a~1b\": the keyword \"not\" is not supported"},
        {R"({"uniqueItems": true})", at + "\"#\": the keyword \"uniqueItems\" is not supported"},
        {R"({"items": {"if": true}})", at + "\"#/items\": the keyword \"if\" is not supported"},
        {R"({"patternProperties": {"a": {}}})",
         at + "\"#\": the keyword \"patternProperties\" is not supported"},
        {R"({"type": "integer", "multipleOf": 2})",
         at + "\"#\": the keyword \"multipleOf\" is not supported"},
        {R"({"type": "text"})",
         at + "\"#\": type \"\\\"text\\\"\" is none of object, array, string, number, integer, "
              "boolean, null"},
        {R"({"type": []})", at + "\"#\": type has no type in it"},
        {R"({"required": "a"})", at + "\"#\": required is a list of names"},
        {R"({"properties": []})", at + "\"#\": properties is an object of schemas"},
        {R"({"anyOf": []})", at + "\"#\": anyOf is a list of one schema or more"},
        {R"({"items": 5})", at + "\"#/items\": a schema is an object, true or false"},
        {R"({"minItems": -1})", at + "\"#\": minItems is a whole number, 0 or more"},
        {R"({"maxLength": "3"})", at + "\"#\": maxLength is a whole number, 0 or more"},
        {R"({"maxLength": 1e9})",
         at + "\"#\": maxLength is 1000000000.0, and at most 100000 can be counted"},
        {R"({"minLength": 3, "maxLength": 2})", at + "\"#\": minLength is larger than maxLength"},
        {R"({"minItems": 3, "maxItems": 2})", at + "\"#\": minItems is larger than maxItems"},
        {R"({"type": "integer", "minimum": 3, "maximum": 2})",
         at + "\"#\": no number is between the limits"},
        {R"({"type": "number", "minimum": 0.5})",
         at + "\"#\": minimum is 0.5, and of numbers that are not whole only whole limits are "
              "supported"},
        {R"({"type": "number", "exclusiveMinimum": true})",
         at + "\"#\": exclusiveMinimum is a number"},
        {R"({"format": "email"})",
         at + "\"#\": the format \"\\\"email\\\"\" is not supported; there are date, time, "
              "date-time and uuid"},
        {R"({"pattern": "a", "maxLength": 3})",
         at + "\"#\": of pattern, format and the lengths of a string only one at a time is "
              "supported"},
        {R"j({"pattern": "(?=a)"})j",
         at + "\"#\": the pattern \"(?=a)\" looks ahead or behind, (?=...) or alike, which is not "
              "supported"},
        {R"({"pattern": "\\bx"})",
         at + "\"#\": the pattern \"\\\\bx\" has \\b, which is not supported"},
        {R"({"pattern": "(a)\\1"})",
         at + "\"#\": the pattern \"(a)\\\\1\" has \\1, which is not supported"},
        {R"({"pattern": "a(b"})", at + "\"#\": the pattern \"a(b\" has a ( without )"},
        {R"({"pattern": "a[b"})", at + "\"#\": the pattern \"a[b\" has a [ without ]"},
        {R"j({"pattern": "a)"})j", at + "\"#\": the pattern \"a)\" has a ) without ("},
        {R"({"pattern": "+a"})", at + "\"#\": the pattern \"+a\" repeats nothing, at byte 0"},
        {R"j({"pattern": "x(^a)"})j",
         at + "\"#\": the pattern \"x(^a)\" has ^ or $ in a group, which is not supported"},
        {R"({"pattern": "a$b"})",
         at + "\"#\": the pattern \"a$b\" has $ elsewhere than at its end"},
        {R"({"enum": [], "type": "null"})",
         at + "\"#\": no value of enum or const is allowed by all else"},
        {R"({"const": 1, "minimum": 3})",
         at + "\"#\": enum and const are not supported beside keywords other than type"},
        {R"({"$ref": "#/$defs/x"})", at + "\"#\": $ref \"#/$defs/x\" leads nowhere"},
        {R"({"$ref": "https://x.org/a"})",
         at + "\"#\": $ref \"\\\"https://x.org/a\\\"\" is not supported: only places of the schema "
              "itself are, \"#/...\""},
        {R"({"$ref": "#"})",
         at + "\"#\": $ref \"#\" leads to itself without an object or array between"},
        {R"({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}})",
         at + "\"#/$defs/a/allOf/0\": $ref \"#/$defs/a\" leads to itself without an object or "
              "array between"},
        {R"({"anyOf": [{"$ref": "#"}, true], "properties": {"a": true}})",
         at + "\"#/anyOf/0/anyOf/0\": the schema is nested too deeply"},
        {R"({"oneOf": [{"type": "number"}, {"type": "integer"}]})",
         at + "\"#\": oneOf: nothing shows that a value of schema 0 is none of schema 1; anyOf "
              "takes values of both"},
        {R"({"allOf": [{"type": "string"}, {"type": "null"}]})",
         at + "\"#/allOf/1\": no type is in both schemas that are to hold"},
        {R"({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})",
         at + "\"#/allOf/1\": two schemas that are to hold both have pattern, and it differs"},
        {R"({"allOf": [{"additionalProperties": false}, {"properties": {"a": true}}]})",
         at + "\"#/allOf/1\": additionalProperties forbids the property \"a\", which a schema "
              "that is to hold as well has"},
        {R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
         "s: no text ends the rule \"root\": what it is made of goes on forever"},
        {repeated("[", 100000), "s: the JSON schema has more than 500 brackets inside each other"},
        {repeated(R"({"items": )", 200) + "true" + repeated("}", 200), ""},
    };
    for (const auto& [schema, error] : cases) {
        const std::string said = error_in(schema);
        if (error.empty())
            EXPECT_TRUE(said.ends_with(": the schema is nested too deeply")) << said;
        else if (error.find("nested too deeply") != error.npos)
            EXPECT_NE(said.find("the schema is nested too deeply"), said.npos) << said;
        else
            EXPECT_EQ(said, error) << schema.substr(0, 200);
    }
}

TEST(JsonSchema, grammars_can_be_read) {
    EXPECT_EQ(
        grammar_of_schema(R"({"properties": {"a": {"type": "integer", "minimum": 7, "maximum": 12},
                                  "b": {"type": "boolean"}}, "required": ["a"]})"),
        "root ::= object-1\n"
        "white ::= (\"\\n\" [ \\t]{0,20} | \" \")?\n"
        "boolean ::= \"true\" | \"false\"\n"
        "more-1 ::= (white \",\" white \"\\\"b\\\":\" white boolean)?\n"
        "object-1 ::= \"{\" white (\"\\\"a\\\":\" white ([7-9] | \"1\" [0-2]) more-1 white) "
        "\"}\"\n");
}

}  // namespace tandem::test
