// Pictures of measurements: which lines there are, and what the file holds.
#include <gtest/gtest.h>

#include <regex>

#include "cli/bench/plot.h"

namespace tandem::cli {
namespace {

Row row(int64_t depth, const std::string& mode, int64_t prompt, double rate) {
    Row row{.model = "llama 1B <Q4_0>", .least = {.seconds = 0.5}};
    row.test = {.prompt = prompt, .generated = prompt > 0 ? 0 : 10, .depth = depth};
    row.test.setup.mode = mode;
    row.nanoseconds = {int64_t(double(row.tokens()) / rate * 1e9)};
    return row;
}

TEST(Plot, has_a_line_for_what_differs) {
    const std::vector<Chart> charts =
        make_charts({row(512, "layer", 0, 4), row(0, "layer", 0, 5), row(0, "tensor", 0, 8),
                     row(0, "layer", 16, 32)});
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[0].title, "llama 1B <Q4_0>, tg10");
    ASSERT_EQ(charts[0].lines.size(), 2u);
    EXPECT_EQ(charts[0].lines[0].name, "layer");
    EXPECT_EQ(charts[0].lines[1].name, "tensor");
    ASSERT_EQ(charts[0].lines[0].points.size(), 2u);
    EXPECT_EQ(charts[0].lines[0].points[0].x, 0);  // in order of depth
    EXPECT_DOUBLE_EQ(charts[0].lines[0].points[1].y, 4);
    EXPECT_EQ(charts[0].lines[0].limit[1].y, 20);
    EXPECT_EQ(charts[1].title, "llama 1B <Q4_0>, pp16");
    EXPECT_EQ(charts[1].lines[0].name, "measured");  // alone, with nothing to be told from
}

TEST(Plot, has_a_line_for_each_number_of_sequences) {
    std::vector<Row> rows{row(0, "layer", 0, 5), row(0, "layer", 0, 8), row(512, "layer", 0, 4),
                          row(512, "layer", 0, 7)};
    rows[1].test.setup.sequences = rows[3].test.setup.sequences = 4;
    const std::vector<Chart> charts = make_charts(rows);
    ASSERT_EQ(charts.size(), 1u);
    ASSERT_EQ(charts[0].lines.size(), 2u);
    EXPECT_EQ(charts[0].lines[0].name, "1 at once");
    EXPECT_EQ(charts[0].lines[1].name, "4 at once");
}

TEST(Plot, is_titled_with_what_its_lines_share) {
    std::vector<Row> rows{row(0, "layer", 0, 5), row(0, "layer", 0, 6), row(0, "layer", 16, 32)};
    rows[1].test.generated = 20;
    EXPECT_EQ(make_charts(rows)[0].title, "llama 1B <Q4_0>, generation");
    rows[1].model = "llama 8B";
    EXPECT_EQ(make_charts(rows)[0].title, "generation");
    rows.push_back(row(0, "layer", 32, 64));
    EXPECT_EQ(make_charts(rows)[1].title, "llama 1B <Q4_0>, prompts");
}

TEST(Plot, has_few_round_marks_on_its_axes) {
    EXPECT_EQ(decimal_step(48, 6), 10);
    EXPECT_EQ(decimal_step(7, 6), 2);
    EXPECT_EQ(decimal_step(0.3, 6), 0.05);
    EXPECT_EQ(binary_step(4096, 9), 512);
    EXPECT_EQ(binary_step(32768, 9), 4096);
    EXPECT_EQ(binary_step(1, 9), 1);
}

TEST(Plot, is_a_file_of_its_own) {
    const std::string svg = to_svg(make_charts({row(0, "layer", 0, 5), row(512, "layer", 0, 4)}));
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_NE(svg.find("llama 1B &lt;Q4_0>, tg10"), std::string::npos);
    EXPECT_EQ(svg.find("href"), std::string::npos);
    EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
    // The points are drawn where their values are: the first one is on the left axis.
    EXPECT_TRUE(std::regex_search(svg, std::regex("<circle class=\"mark c0\" cx=\"68.0\"")));
    EXPECT_EQ(to_svg({}).find("<text"), std::string::npos);
}

TEST(Plot, is_xml_whatever_a_model_is_called) {
    Row odd = row(0, "layer", 0, 5);
    odd.model =
        "a\xff<&\x01"
        "b";
    EXPECT_NE(to_svg(make_charts({odd})).find("a\uFFFD&lt;&amp;\uFFFDb, tg10"), std::string::npos);
}

}  // namespace
}  // namespace tandem::cli
