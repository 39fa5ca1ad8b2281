// The notation of grammars: what it means, and how errors in it are told.
#include <gtest/gtest.h>

#include "grammar/matching.h"

namespace tandem::test {

namespace {

struct Case {
    const char* grammar;
    std::vector<std::string> texts, others;  // that it has, and has not
};

std::string error_in(std::string_view grammar) {
    return error_of([&] { Grammar(grammar, "g"); });
}

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

TEST(GrammarNotation, means_what_llama_cpp_says) {
    const Case cases[] = {
        {R"(root ::= "abc")", {"abc"}, {"", "ab", "abcd", "abd"}},
        {R"(root ::= "")", {""}, {"a"}},
        {R"(root ::= ())", {""}, {"a"}},
        {R"(root ::= "a" | )", {"a", ""}, {"b"}},
        {R"(root ::= "a" "b" | "c" "d")", {"ab", "cd"}, {"abd", "acd", "ad"}},
        {R"(root ::= "a" ("b" | "c") "d")", {"abd", "acd"}, {"ab", "abcd"}},
        {R"(root ::= [a-cx-])", {"a", "b", "c", "x", "-"}, {"d", "", "aa"}},
        {R"(root ::= [^a-c\n])", {"d", "\xc3\xa9", "\xf0\x9f\x98\x80"}, {"a", "c", "\n", ""}},
        {R"(root ::= [^])", {"d", "\n"}, {"", "aa"}},
        {R"(root ::= .)", {"a", "\n", "\xe2\x82\xac"}, {"", "ab"}},
        {R"(root ::= "a"*)", {"", "a", "aaaa"}, {"b", "ab"}},
        {R"(root ::= "ab"+)", {"ab", "abab"}, {"", "aba", "abb"}},
        {R"(root ::= "a"? "b")", {"b", "ab"}, {"a", "aab"}},
        {R"(root ::= "a"{2})", {"aa"}, {"a", "aaa", ""}},
        {R"(root ::= "a"{2,})", {"aa", "aaaaa"}, {"a", ""}},
        {R"(root ::= "a"{ 1 , 3 })", {"a", "aa", "aaa"}, {"", "aaaa"}},
        {R"(root ::= "a"{0})", {""}, {"a"}},
        {R"(root ::= ("a" | "b"{2}){2,3})", {"aa", "abb", "bbbb", "aabb"}, {"a", "b", "ab", "aab"}},
        {R"(root ::= ("a"?){2,} "b")", {"b", "ab", "aaaab"}, {"a", ""}},
        {R"(root ::= ("a"*)* "b")", {"b", "aab"}, {"a"}},
        {"root ::= \"\\x41\\u00e9\\U0001F600\\n\\r\\t\\\"\\\\\\[\\]\"",
         {"A\xc3\xa9\xf0\x9f\x98\x80\n\r\t\"\\[]"},
         {"A"}},
        {"root ::= [\\x41-\\x43\\u20ac]", {"A", "C", "\xe2\x82\xac"}, {"D"}},
        {"# comment\nroot ::= a-1 # comment \"\n\n  a-1::=\"x\"# end", {"x"}, {"", "xx"}},
        {"root ::= (\n # inside\n \"a\"\n | \"b\"\n)\r\nnext ::= \"c\"", {"a", "b"}, {"c"}},
        {"root ::=\n \"a\" |\n \"b\"", {"a", "b"}, {"ab"}},
        {"root ::= \"a\" * next\nnext ::= \"b\"", {"b", "aab"}, {"a"}},
        {"root ::= \"(\" root \")\" | \"x\"", {"x", "((x))"}, {"((x)", "()"}},
        {"root ::= \"x\" (\",\" root)?", {"x", "x,x,x"}, {"x,", ",x"}},
        {"root ::= a a a\na ::= \"x\"?", {"", "x", "xx", "xxx"}, {"xxxx"}},
        {"root ::= a \"y\"\na ::= b b\nb ::= \"x\" |", {"y", "xy", "xxy"}, {"xxxy", "x"}},
    };
    for (const Case& each : cases) {
        for (const std::string& text : each.texts)
            EXPECT_TRUE(matches(each.grammar, text)) << each.grammar << "\n" << text;
        for (const std::string& text : each.others)
            EXPECT_FALSE(matches(each.grammar, text)) << each.grammar << "\n" << text;
    }
}

TEST(GrammarNotation, errors_name_the_place_and_what_was_expected) {
    const std::pair<std::string, std::string> cases[] = {
        {"", R"(g: there is no rule "root", which stands for the whole text)"},
        {"a ::= \"x\"", R"(g: there is no rule "root", which stands for the whole text)"},
        {"root = \"x\"",
         R"(g: line 1, column 6: expected ::= behind the name of the rule "root", found "=")"},
        {"root ::= \"x\"\n\n  ::= 1",
         "g: line 3, column 3: expected the name of a rule, found \":\""},
        {"root ::= a\nb ::= \"x\" c", R"(g: line 1, column 10: there is no rule "a")"},
        {"root ::= \"a\"\nroot ::= \"b\"",
         R"(g: line 2, column 1: the rule "root" is defined twice, first in line 1)"},
        {"root ::= \"x", "g: line 1, column 10: the text that begins here has no closing \""},
        {"root ::= \"\xc3\xa9\" [x",
         "g: line 1, column 14: the set of characters that begins here has no closing ]"},
        {"root ::= []",
         "g: line 1, column 10: no character is in this set, so that nothing could match it"},
        {"root ::= [^\\x00-\\U0010ffff]",
         "g: line 1, column 10: no character is in this set, so that nothing could match it"},
        {"root ::= [z-a]", "g: line 1, column 11: the range of characters ends before it begins"},
        {"root ::= (\n\"a\"", "g: line 1, column 10: the group that begins here has no closing )"},
        {"root ::= (\"a\" ]", "g: line 1, column 15: expected a symbol, | or ), found \"]\""},
        {"root ::= \"a\" )",
         "g: line 1, column 14: expected a symbol, | or the end of the rule's line, found \")\""},
        {"root ::= \"a\"\n | \"b\"",
         "g: line 2, column 2: expected the name of a rule, found \"|\""},
        {"root ::= *",
         "g: line 1, column 10: expected a symbol in front of the repetition, found \"*\""},
        {"root ::= \"a\"{x}",
         "g: line 1, column 14: expected a number of repetitions, found \"x\""},
        {"root ::= \"a\"{2,1}",
         "g: line 1, column 13: the most repetitions are fewer than the least"},
        {"root ::= \"a\"{2",
         "g: line 1, column 15: expected } behind the number of repetitions, found the end"},
        {"root ::= \"a\"{100001}",
         "g: line 1, column 14: at most 100000 repetitions can be counted"},
        {"root ::= \"a\"{99999999999999999999}",
         "g: line 1, column 14: at most 100000 repetitions can be counted"},
        {"root ::= \"\\q\"",
         "g: line 1, column 11: unknown escape \"\\\\q\"; there are \\n \\r \\t \\\\ \\\" \\[ \\] "
         "\\- \\^ \\xHH \\uHHHH \\UHHHHHHHH"},
        {"root ::= \"\\x4\"",
         "g: line 1, column 14: expected 2 hexadecimal digits behind \\x, found \"\\\"\""},
        {"root ::= \"\\ud800\"", "g: line 1, column 11: \\ud800 is no character of Unicode"},
        {"root ::= \"\\U00110000\"",
         "g: line 1, column 11: \\U00110000 is no character of Unicode"},
        {"root ::= \"\xff\"", "g: line 1, column 11: the text is not UTF-8"},
        {"root ::= <think>",
         "g: line 1, column 10: tokens, such as <think> and !<[1000]>, are not supported: a "
         "grammar is about characters"},
        {"root ::= a\na ::= root | \"x\"",
         "g: line 1: the rule \"root\" begins with itself, by way of \"a\"; what comes again and "
         "again can be written with * and +"},
        {"root ::= \"x\" a\na ::= b? a \"y\" | \"z\"\nb ::= \"b\"",
         "g: line 2: the rule \"a\" begins with itself; what comes again and again can be written "
         "with * and +"},
        {"root ::= \"x\" root",
         "g: no text ends the rule \"root\": what it is made of goes on forever"},
        {"root ::= ((\"a\"{1000}){1000}){1000}",
         "g: the grammar is too large: with its repetitions written out, it has more than a "
         "million symbols"},
        {"root ::= ((){100000}){100000}",
         "g: the grammar is too large: its repetitions are too many"},
        {"root ::= \"a\"*********",
         "g: line 1, column 21: more than 8 repetitions of repetitions; parentheses tell what is "
         "meant"},
        {"root ::= " + repeated("(", 100000),
         "g: line 1, column 210: more than 200 groups inside each other"},
    };
    for (const auto& [grammar, error] : cases)
        EXPECT_EQ(error_in(grammar), error) << grammar.substr(0, 100);
}

// Rules that lead to each other by the thousand, in both orders.
TEST(GrammarNotation, takes_long_chains_of_rules) {
    const int count = 50000;
    std::string forth = "root ::= r0\n", back = "r0 ::= \"x\"\n";
    for (int i = 0; i < count; ++i) {
        const auto name = [](int number) { return "r" + std::to_string(number); };
        forth += name(i) + " ::= " + (i + 1 < count ? name(i + 1) : "\"x\"") + "\n";
        if (i > 0) back += name(i) + " ::= " + name(i - 1) + "\n";
    }
    back += "root ::= r" + std::to_string(count - 1);
    EXPECT_TRUE(matches(forth, "x"));
    EXPECT_TRUE(matches(back, "x"));
}

}  // namespace tandem::test
