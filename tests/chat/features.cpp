// What the recorded renderings leave out.
#include <string>

#include <gtest/gtest.h>

#include "rendered.h"

using namespace tandem;

namespace {

std::string rendered(const char* source) { return test::rendered(source).bytes(); }

}  // namespace

TEST(JinjaFeatures, splits_at_white_space_keep_what_is_left) {
    EXPECT_EQ(rendered("{{ ' a b  c '.split(None, 1) }}"), "['a', 'b  c ']");
    EXPECT_EQ(rendered("{{ ' a b  c '.rsplit(None, 1) }}"), "[' a b', 'c']");
}

TEST(JinjaFeatures, titles_of_filter_and_method_differ) {
    EXPECT_EQ(rendered("{{ \"it's foo-bar\" | title }} {{ \"it's\".title() }}"),
              "It's Foo-Bar It'S");
}

TEST(JinjaFeatures, loops_call_themselves) {
    EXPECT_EQ(rendered("{% for n in [{'c': [{'c': []}]}] recursive %}[{{ loop.depth }}"
                       "{{ loop(n.c) }}]{% endfor %}"),
              "[1[2]]");
}

TEST(JinjaFeatures, macros_see_where_they_were_defined) {
    EXPECT_EQ(
        rendered("{% set ns = namespace(l=[]) %}{% for i in range(3) %}"
                 "{% macro m() %}{{ i }}{% endmacro %}{% set _ = ns.l.append(m) %}{% endfor %}"
                 "{% for m in ns.l %}{{ m() }}{% endfor %}"),
        "012");
    EXPECT_EQ(rendered("{% macro g() %}{{ caller(5) }}{% endmacro %}"
                       "{% call(n) g() %}<{{ n }}>{% endcall %}"),
              "<5>");
}

TEST(JinjaFeatures, generators_are_walked_once) {
    EXPECT_EQ(rendered("{% set g = [1, 2] | select %}{{ g | list }}{{ g | list }}"), "[1, 2][]");
    EXPECT_EQ(rendered("{% if [] | select %}true{% endif %}"), "true");
}

TEST(JinjaFeatures, groups_are_pairs_with_names) {
    EXPECT_EQ(rendered("{% for g in [{'k': 2}, {'k': 1}] | groupby('k') %}{{ g.grouper }}"
                       "{{ g.list }}{{ g[0] }}{% endfor %}"),
              "1[{'k': 1}]12[{'k': 2}]2");
    EXPECT_EQ(rendered("{{ [{'k': 2}] | groupby('k') | map(attribute='grouper') | list }}"), "[2]");
}

TEST(JinjaFeatures, words_are_runs_of_letters_and_digits) {
    EXPECT_EQ(rendered("{{ \"don't stop-it a_b 5\" | wordcount }} {{ {} | wordcount }}"), "6 0");
}

TEST(JinjaFeatures, joiners_and_cyclers_remember) {
    EXPECT_EQ(rendered("{% set j = joiner('|') %}{{ j() }}a{{ j() }}b"), "a|b");
    EXPECT_EQ(rendered("{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.next() }}{{ c.current }}"),
              "121");
}

TEST(JinjaFeatures, formats_lay_numbers_out) {
    EXPECT_EQ(rendered("{{ '%5.2f|%-5s|%05d|%x|%r|%%|%+d' % (3.14159, 'ab', 42, 255, 'q', 7) }}"),
              " 3.14|ab   |00042|ff|'q'|%|+7");
    EXPECT_EQ(rendered("{{ '{:>3}|{:^5}|{:05d}|{:.2f}|{:,}|{!r}'.format('a', 'c', 42, 3.14159, "
                       "1234567, 'z') }}"),
              "  a|  c  |00042|3.14|1,234,567|'z'");
}

TEST(JinjaFeatures, dates_are_english) {
    EXPECT_EQ(rendered("{{ strftime_now('%a %A %b %B %-d %e %I %p %y %%') }}"),
              "Thu Thursday Jan January 15 15 12 PM 26 %");
}
