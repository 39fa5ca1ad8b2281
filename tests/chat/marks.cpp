// Which bytes of a rendering were given: exactly those that users and models wrote.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rendered.h"

using namespace tandem;
using model::jinja::Text;

namespace {

// The text with what was given between < and >.
std::string marked(const Text& text) {
    std::string out;
    size_t at = 0;
    for (const auto& [begin, end] : text.given()) {
        EXPECT_LT(begin, end);
        EXPECT_LE(at, begin);
        out += text.bytes().substr(at, begin - at) + "<" + text.bytes().substr(begin, end - begin) +
               ">";
        at = end;
    }
    return out + text.bytes().substr(at);
}

// With one message, whose content is given.
std::string rendered_with(const std::string& content, std::string_view source) {
    const nlohmann::ordered_json variables = {
        {"messages", {{{"role", "user"}, {"content", content}}}}, {"bos_token", "[bos]"}};
    std::string head = "{% set c = messages[0].content %}";
    return marked(test::rendered(head + std::string(source), variables));
}

}  // namespace

TEST(JinjaMarks, texts_keep_their_ranges) {
    Text text("ab", true);
    text.append("cd");
    text.append("ef", true);
    text.append("gh", true);
    EXPECT_EQ(marked(text), "<ab>cd<efgh>");
    Text part;
    part.append(text, 1, 5);
    EXPECT_EQ(marked(part), "<b>cd<e>");
    part.append(text, 2, 4);
    EXPECT_EQ(marked(part), "<b>cd<e>cd");
    part.append("", true);
    part.append(text, 3, 3);
    EXPECT_EQ(marked(part), "<b>cd<e>cd");
    EXPECT_FALSE(Text("plain").any_given());
}

TEST(JinjaMarks, contents_are_given_and_roles_and_syntax_are_not) {
    EXPECT_EQ(rendered_with("hi", "{{ bos_token }}{{ messages[0].role }}: {{ c }}!"),
              "[bos]user: <hi>!");
    EXPECT_EQ(rendered_with("hi", "{{ 'a' + c + 'b' ~ c ~ 1 }}"), "a<hi>b<hi>1");
    EXPECT_EQ(rendered_with("hi",
                            "{% for m in messages %}{% for k in m %}{{ k }},{% endfor %}"
                            "{% endfor %}"),
              "role,content,");
}

TEST(JinjaMarks, all_strings_below_messages_are_given) {
    const nlohmann::ordered_json variables = {
        {"messages",
         {{{"role", "assistant"}, {"tool_calls", {{{"name", "f"}, {"arguments", {{"k", "v"}}}}}}}}},
        {"tools", {{{"name", "g"}}}}};
    EXPECT_EQ(marked(test::rendered("{% for t in messages[0].tool_calls %}{{ t.name }}"
                                    "{% for k, v in t.arguments.items() %}({{ k }}={{ v }})"
                                    "{% endfor %}{% endfor %}{{ tools[0].name }}",
                                    variables)),
              "<f>(k=<v>)g");
}

TEST(JinjaMarks, slices_and_single_characters_are_exact) {
    EXPECT_EQ(rendered_with("abcd", "{{ ('x' + c + 'y')[1:3] }}"), "<ab>");
    EXPECT_EQ(rendered_with("abcd", "{{ ('x' + c + 'y')[0] }}{{ (c + 'y')[-1] }}"), "xy");
    EXPECT_EQ(rendered_with("ab", "{{ ('x' + c)[::-1] }}"), "<ba>x");
    EXPECT_EQ(rendered_with("\u00e9\u00e9", "{{ ('x' + c)[1:2] }}"), "<\u00e9>");
    EXPECT_EQ(rendered_with("ab", "{% for x in 'z' + c %}{{ x }}.{% endfor %}"), "z.<a>.<b>.");
}

TEST(JinjaMarks, white_space_goes_and_marks_stay) {
    EXPECT_EQ(rendered_with(" hi ", "[{{ c | trim }}][{{ c.lstrip() }}][{{ c.rstrip() }}]"),
              "[<hi>][<hi >][< hi>]");
    EXPECT_EQ(rendered_with(" hi", "{{ (' -' + c).strip(' -') }}"), "<hi>");
}

TEST(JinjaMarks, parts_and_joins_are_exact) {
    EXPECT_EQ(rendered_with("a,b", "{{ ('x' + c).split(',') | join('-') }}"), "x<a>-<b>");
    EXPECT_EQ(rendered_with("t</think>r", "{{ c.split('</think>')[-1] }}"), "<r>");
    EXPECT_EQ(rendered_with("aXb", "{{ ('X' + c).replace('X', '..') }}"), "..<a>..<b>");
    EXPECT_EQ(rendered_with("Y", "{{ 'aXb' | replace('X', c) }}"), "a<Y>b");
    EXPECT_EQ(rendered_with("p\nq", "{{ c | indent(2) }}"), "<p\n>  <q>");
}

TEST(JinjaMarks, formats_keep_what_they_insert) {
    EXPECT_EQ(rendered_with("hi", "{{ '<|a|>%s<|b|>' % c }}"), "<|a|><hi><|b|>");
    EXPECT_EQ(rendered_with("hi", "{{ '[{}]'.format(c) }}{{ '[%s]' | format(c) }}"),
              "[<hi>][<hi>]");
}

TEST(JinjaMarks, macros_and_blocks_pass_marks_on) {
    EXPECT_EQ(rendered_with("hi", "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(c) }}{{ m('lo') }}"),
              "[<hi>][lo]");
    EXPECT_EQ(rendered_with("hi", "{% set b %}-{{ c }}-{% endset %}{{ b }}"), "-<hi>-");
    EXPECT_EQ(rendered_with("hi",
                            "{% set ns = namespace(t='') %}{% for i in range(2) %}"
                            "{% set ns.t = ns.t + c + ';' %}{% endfor %}{{ ns.t }}"),
              "<hi>;<hi>;");
}

TEST(JinjaMarks, new_bytes_of_given_ones_are_given) {
    EXPECT_EQ(rendered_with("hi", "{{ ('x' + c) | upper }}"), "<XHI>");
    EXPECT_EQ(rendered_with("hi", "{{ {'k': c} | tojson }}{{ {'k': 1} | tojson }}"),
              "<{\"k\": \"hi\"}>{\"k\": 1}");
    EXPECT_EQ(rendered_with("hi", "{{ [c] }}{{ ['x'] }}"), "<['hi']>['x']");
    EXPECT_EQ(rendered_with("[\"a\"]", "{{ (c | from_json)[0] }}"), "<a>");
    EXPECT_EQ(rendered_with("hi", "{{ c | length }}{{ c == 'hi' }}"), "2True");
}
