// How texts are followed: byte by byte, in many readings, and for long.
#include <gtest/gtest.h>

#include <chrono>

#include "grammar/matching.h"

namespace tandem::test {

namespace {

const std::string json =
    "root ::= value\n"
    "value ::= object | array | string | number | \"true\"\n"
    "object ::= \"{\" (string \":\" value (\",\" string \":\" value)*)? \"}\"\n"
    "array ::= \"[\" (value (\",\" value)*)? \"]\"\n"
    "string ::= \"\\\"\" [^\"\\\\]* \"\\\"\"\n"
    "number ::= [0-9]+\n";

// The position behind a text, of which no position is kept for longer than a byte.
Matcher::Position behind(Matcher& matcher, std::string_view text) {
    Matcher::Position position = matcher.start();
    for (const char byte : text) {
        if (!matcher.push(position, uint8_t(byte))) return {};
        matcher.tidy({&position, 1});
    }
    return position;
}

double seconds(const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST(GrammarMatcher, follows_characters_byte_by_byte) {
    const std::string euro = "\xe2\x82\xac",
                      grammar = "root ::= [\\u20ac-\\u20ad\\U0001F600] \"x\"";
    EXPECT_TRUE(matches(grammar, euro + "x"));
    EXPECT_TRUE(matches(grammar, "\xe2", true));
    EXPECT_TRUE(matches(grammar, "\xe2\x82", true));
    EXPECT_FALSE(matches(grammar, "\xe2\x83", true)) << "no character of the set begins so";
    EXPECT_FALSE(matches(grammar, "\xe3", true));
    EXPECT_TRUE(matches(grammar, "\xf0\x9f\x98\x80x"));
    EXPECT_FALSE(matches(grammar, "\xe2\x82\xac")) << "x is missing";
    EXPECT_FALSE(matches("root ::= .?", "\xe2\x82")) << "a text ends with whole characters";
    // Overlong forms, surrogates, past the last character, bytes that begin none.
    for (const char* wrong : {"\xc0", "\xc1", "\xe0\x80", "\xed\xa0", "\xf0\x80", "\xf4\x90",
                              "\xf5", "\x80", "\xff", "a\x80", "\xe2\x61"})
        EXPECT_FALSE(matches("root ::= .*", wrong, true)) << wrong;
    EXPECT_TRUE(matches("root ::= .*", std::string("\0\x7f", 2)));
}

TEST(GrammarMatcher, knows_where_a_text_may_and_must_end) {
    const auto ends = [](std::string_view grammar, std::string_view text) {
        Matcher matcher{Grammar(grammar)};
        const Matcher::Position position = behind(matcher, text);
        return std::pair(matcher.can_end(position), matcher.must_end(position));
    };
    using Ends = std::pair<bool, bool>;
    EXPECT_EQ(ends("root ::= \"ab\" | \"a\"", "a"), Ends(true, false));
    EXPECT_EQ(ends("root ::= \"ab\" | \"a\"", "ab"), Ends(true, true));
    EXPECT_EQ(ends("root ::= \"ab\" | \"a\"", ""), Ends(false, false));
    EXPECT_EQ(ends("root ::= \"\"", ""), Ends(true, true));
    EXPECT_EQ(ends(json, "[1,2]"), Ends(true, true));
    EXPECT_EQ(ends(json, "12"), Ends(true, false));
    EXPECT_EQ(ends(json, "[1,2"), Ends(false, false));
}

// What leads nowhere is left out at once, so that a text never runs into a dead end.
TEST(GrammarMatcher, goes_no_way_that_has_no_end) {
    const std::string grammar = "root ::= \"a\" | \"bc\" endless\nendless ::= \"d\" endless";
    EXPECT_TRUE(matches(grammar, "a"));
    EXPECT_FALSE(matches(grammar, "b", true));
}

TEST(GrammarMatcher, takes_time_by_states_and_not_by_readings) {
    // Each letter doubles the readings.
    const std::string doubling = "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"x\"";
    std::string text = std::string(1000, 'a') + "x";
    for (int i = 0; i < 1000; ++i) text += i % 3 == 0 ? 'b' : 'c';
    EXPECT_LT(seconds([&] { EXPECT_TRUE(matches(doubling, text)); }), 5);
    const std::string optional = "root ::= " + [] {
        std::string all;
        for (int i = 0; i < 300; ++i) all += "\"a\"? ";
        return all;
    }();
    EXPECT_LT(seconds([&] { EXPECT_TRUE(matches(optional, std::string(300, 'a'))); }), 5);
    EXPECT_FALSE(matches(optional, std::string(301, 'a')));
    const std::string pairs = "root ::= \"a\" | \"a\" root root";
    EXPECT_LT(seconds([&] { EXPECT_TRUE(matches(pairs, std::string(201, 'a'))); }), 5);
    EXPECT_FALSE(matches(pairs, std::string(200, 'a')));
}

TEST(GrammarMatcher, says_where_readings_are_too_many) {
    // Every state at every depth: 600 rules, each of which may have been called at each letter.
    std::string grammar = "root ::= r0\n";
    for (int i = 0; i < 600; ++i)
        grammar += "r" + std::to_string(i) + " ::= \"a\" (r" + std::to_string((i + 1) % 600) +
                   " | r" + std::to_string((i * 7 + 1) % 600) + ")? \"a\"?\n";
    const std::string error = error_of([&] { matches(grammar, std::string(20000, 'a'), true); });
    EXPECT_EQ(error, "the grammar is too ambiguous: the text can be read in too many ways");
}

TEST(GrammarMatcher, goes_on_for_long_in_little_memory) {
    // A rule that ends with itself leaves nothing behind; one that does not, a node a level.
    Matcher list{Grammar("root ::= [a-z] root | \".\"")};
    Matcher::Position position = list.start();
    for (int i = 0; i < 3000000; ++i) ASSERT_TRUE(list.push(position, uint8_t('a' + i % 26)));
    EXPECT_EQ(position.readings, behind(list, "a").readings);
    Matcher nested{Grammar(json)};
    const std::string deep(200000, '[');
    EXPECT_TRUE(nested.goes_on(behind(nested, deep)));
    EXPECT_TRUE(nested.can_end(behind(nested, deep + std::string(200000, ']'))));
    // Texts between which all is forgotten.
    Matcher counted{Grammar("root ::= ([^,]{0,30000} \",\"){0,3} [^,]{0,30000}")};
    std::string text;
    for (int i = 0; i < 3; ++i) text += std::string(30000, 'a') + ",";
    EXPECT_TRUE(counted.can_end(behind(counted, text)));
    EXPECT_FALSE(counted.goes_on(behind(counted, text + ",")));
}

}  // namespace tandem::test
