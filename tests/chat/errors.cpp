// What templates are refused for, with the line, and that none takes too long or too much.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "rendered.h"

using namespace tandem;

namespace {

// What the error says; empty where there is none.
std::string error_of(std::string_view source) {
    try {
        test::rendered(source);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string repeated(std::string_view text, size_t count) {
    std::string out;
    for (size_t at = 0; at < count; ++at) out += text;
    return out;
}

bool mentions(std::string_view source, std::string_view words) {
    const std::string said = error_of(source);
    EXPECT_NE(said.find(words), std::string::npos) << source.substr(0, 200) << "\n" << said;
    return said.find(words) != std::string::npos;
}

}  // namespace

TEST(JinjaErrors, parsing_names_the_line) {
    EXPECT_EQ(error_of("a\n{% if x %}\nb"), "line 2: 'if' begins here and has no endif");
    EXPECT_EQ(error_of("\n\n{{ 1 + }}"), "line 3: unexpected '}}', expected an expression");
    EXPECT_EQ(error_of("{% nonsense %}"), "line 1: unknown tag 'nonsense'");
    EXPECT_EQ(error_of("{{ (1 }}"), "line 1: unexpected '}', expected ')'");
    EXPECT_EQ(error_of("{{ 'abc }}"), "line 1: the string that begins here has no end");
    EXPECT_EQ(error_of("\n{# abc"), "line 2: the comment that begins here has no end");
    EXPECT_EQ(error_of("{{ 1"), "line 1: the tag that begins here has no }}");
    EXPECT_EQ(error_of("{% break %}"), "line 1: 'break' outside of a loop");
    EXPECT_EQ(error_of("{% endfor %}"), "line 1: unknown tag 'endfor'");
    EXPECT_EQ(error_of("{{ 99999999999999999999 }}"),
              "line 1: the number 99999999999999999999 needs more than 64 bits");
    EXPECT_EQ(error_of("{{ a ? b }}"), "line 1: unexpected character '?'");
}

TEST(JinjaErrors, rendering_names_the_line) {
    EXPECT_EQ(error_of("\n{{ x.y }}"), "line 2: 'x' is undefined");
    EXPECT_EQ(error_of("{% set d = {} %}\n{{ d.a.b }}"),
              "line 2: 'dict object' has no attribute 'a'");
    EXPECT_EQ(error_of("{{ 'a' + 1 }}"), "line 1: cannot calculate str + int");
    EXPECT_EQ(error_of("{{ 1 / 0 }}"), "line 1: division by zero");
    EXPECT_EQ(error_of("{{ x() }}"), "line 1: 'x' is undefined");
    EXPECT_EQ(error_of("{{ 1 | nothing }}"), "line 1: there is no filter 'nothing'");
    EXPECT_EQ(error_of("{{ 1 is nothing }}"), "line 1: there is no test 'nothing'");
    EXPECT_EQ(error_of("{{ 'a'.strip(1, 2) }}"), "line 1: strip(): too many arguments");
    EXPECT_EQ(error_of("{{ 'a' | trim(x=1) }}"), "line 1: trim(): there is no argument 'x'");
    EXPECT_EQ(error_of("{% macro m(a) %}{{ a.b }}{% endmacro %}\n\n{{ m() }}"),
              "line 1: 'a' is undefined");
    EXPECT_EQ(error_of("{% macro m() %}\n\n{% endmacro %}{{ m() + 1 }}"),
              "line 3: cannot calculate str + int");
}

TEST(JinjaErrors, branches_that_nobody_takes_may_name_what_is_not_there) {
    EXPECT_EQ(error_of("{% if false %}{{ 1 | nothing }}{{ 1 is nothing }}{% endif %}"), "");
}

TEST(JinjaErrors, exceptions_are_the_words_of_the_template) {
    EXPECT_EQ(error_of("\n{{ raise_exception('Only user and assistant!') }}"),
              "Only user and assistant!");
}

TEST(JinjaBounds, sources_are_not_nested_endlessly) {
    mentions("{{ " + repeated("(", 100000) + repeated(")", 100000) + " }}", "nested too deeply");
    mentions("{{ " + repeated("[", 100000) + repeated("]", 100000) + " }}", "nested too deeply");
    mentions("{{ " + repeated("-", 100000) + "1 }}", "nested too deeply");
    mentions("{{ " + repeated("not ", 100000) + "1 }}", "nested too deeply");
    mentions("{{ 1" + repeated(" + 1", 100000) + " }}", "too long");
    mentions("{{ x" + repeated(".x", 100000) + " }}", "too long");
    mentions("{{ x" + repeated("|trim", 100000) + " }}", "too long");
    mentions("{{ 1" + repeated(" if 1", 100000) + " }}", "too long");
    mentions("{{ 1" + repeated(" if 1 else 1", 100000) + " }}", "nested too deeply");
    mentions(repeated("{% if 1 %}", 100000), "nested too deeply");
    mentions("{% for " + repeated("(", 100000) + repeated(")", 100000) + " %}",
             "nested too deeply");
    EXPECT_EQ(error_of("{{ 'a'" + repeated(" ~ 'a'", 10000) + " }}"), "");
    EXPECT_EQ(error_of("{% if 0 %}" + repeated("{% elif 0 %}", 10000) + "{% endif %}"), "");
}

TEST(JinjaBounds, calls_are_not_nested_endlessly) {
    mentions("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested too deeply");
    mentions(
        "{% set l = [] %}{% set _ = l.append(l) %}"
        "{% for x in l recursive %}{{ loop(x) }}{% endfor %}",
        "nested too deeply");
    EXPECT_EQ(error_of("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}"
                       "{{ m(150) }}"),
              "");
}

TEST(JinjaBounds, loops_end) {
    mentions(
        "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}"
        "{% endfor %}{% endfor %}{% endfor %}",
        "too long");
    mentions("{% set l = [1] %}{% for i in range(60) %}{% set _ = l.extend(l) %}{% endfor %}",
             "line 1: the template");
    mentions("{{ range(10000000) }}", "more than a million");
    EXPECT_EQ(error_of("{{ range(9223372036854775806, 9223372036854775807) | list }}"), "");
}

TEST(JinjaBounds, texts_stay_small) {
    mentions("{{ 'x' * 100000000000 }}", "too often");
    mentions("{{ 'x' * 1000000000 }}", "memory");
    mentions("{{ [1] * 1000000000 }}", "too often");
    mentions(
        "{% set ns = namespace(t='x') %}{% for i in range(99) %}{% set ns.t = ns.t + ns.t %}"
        "{% endfor %}",
        "memory");
    mentions("{{ '%1000000000d' % 1 }}", "too wide");
    mentions("{{ '{:99999999}'.format(1) }}", "too wide");
    mentions("{{ '%.999999f' % 1 }}", "too");
    mentions("{{ 'x'.center(99999999) }}", "too far");
    mentions("{{ 'x' | indent(99999999) }}", "too far");
    mentions("{{ ('x' * 1000000).replace('', 'y' * 1000) }}", "memory");
    mentions("{{ [1] | tojson(indent=99999) }}", "too far");
}

TEST(JinjaBounds, printing_ends) {
    const std::string self = "{% set l = [] %}{% set _ = l.append(l) %}";
    mentions(self + "{{ l }}", "nested too deeply");
    mentions(self + "{{ l | tojson }}", "nested too deeply");
    mentions(self + "{% set k = [] %}{% set _ = k.append(k) %}{{ l == k }}", "nested too deeply");
    mentions(
        "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}"
        "{% endfor %}{{ ns.l }}",
        "the template");
}

TEST(JinjaBounds, integers_do_not_overflow) {
    const std::string low = "{% set low = -9223372036854775807 - 1 %}";
    for (const char* source : {"low - 1", "-low", "low // -1", "low * -1", "low | abs", "2 ** 64",
                               "'99999999999999999999' | int", "1e300 | int"})
        mentions(low + "{{ " + source + " }}", "64 bits");
    EXPECT_EQ(test::rendered(low + "{{ low % -1 }} {{ low }}").bytes(), "0 -9223372036854775808");
    EXPECT_EQ(test::rendered(low + "{{ 'abc'[low:] }}{{ 'abc'[::low] }}").bytes(), "abcc");
    mentions("{{ 1 % 0 }}", "division by zero");
    mentions("{{ 0 ** -1 }}", "division by zero");
}

TEST(JinjaBounds, bytes_that_are_no_utf8_are_characters) {
    const nlohmann::ordered_json variables = {{"x", "a\xff\xc3"}};
    EXPECT_EQ(
        test::rendered("{{ x | length }}{{ x[1:] | upper }}{{ x | tojson }}", variables).bytes(),
        "3\xff\xc3\"a\xff\xc3\"");
}

TEST(JinjaBounds, conversations_may_be_long) {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (int at = 0; at < 1000; ++at)
        messages.push_back({{"role", "user"}, {"content", std::string(100'000, 'x')}});
    const std::string source =
        "{% for m in messages %}{{ '[' + m.role + ']' + m.content | trim }}{% endfor %}";
    EXPECT_EQ(test::rendered(source, {{"messages", messages}}).size(), 1000u * 100'006);
}
