#include "cli/bench/chart.h"

#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "model/tokenizer/characters.h"
#include "model/tokenizer/utf8.h"

namespace tandem::cli {

namespace {

// Pixels: the picture, and the part of it that lies between the axes.
constexpr double width = 760, left = 68, right = 728, top = 64, plot_height = 300;
constexpr double legend_row = 20, foot = 52;

// Colours that are told apart on both grounds, also by eyes that see less of them.
constexpr const char* style = R"(<style>
  .ground { fill: #fcfcfb }
  text { font: 12px system-ui, sans-serif; fill: #52514e }
  .title { font-size: 15px; font-weight: 600; fill: #0b0b0b }
  .grid { stroke: #e4e3df; stroke-width: 1 }
  .axis { stroke: #a5a49f; stroke-width: 1 }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke: currentColor }
  .limit { stroke-dasharray: 6 5; stroke-width: 1.5 }
  .mark { fill: currentColor; stroke: #fcfcfb; stroke-width: 2 }
  .c0 { color: #2a78d6 } .c1 { color: #eb6834 } .c2 { color: #1baf7a } .c3 { color: #eda100 }
  .c4 { color: #e87ba4 } .c5 { color: #008300 } .c6 { color: #4a3aa7 } .c7 { color: #e34948 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #1a1a19 }
    text { fill: #c3c2b7 }
    .title { fill: #ffffff }
    .grid { stroke: #32322f }
    .axis { stroke: #6b6a66 }
    .mark { stroke: #1a1a19 }
    .c0 { color: #3987e5 } .c1 { color: #d95926 } .c2 { color: #199e70 } .c3 { color: #c98500 }
    .c4 { color: #d55181 } .c5 { color: #008300 } .c6 { color: #9085e9 } .c7 { color: #e66767 }
  }
</style>
)";
constexpr size_t colours = 8;

// XML has neither control characters nor bytes that are not UTF-8: U+FFFD stands for them.
std::string escaped(const std::string& text) {
    std::string safe;
    for (const model::Character& c : model::characters(text)) {
        if (c.code == '<')
            safe += "&lt;";
        else if (c.code == '&')
            safe += "&amp;";
        else
            model::append_utf8(safe, c.code < ' ' ? U'\uFFFD' : c.code);
    }
    return safe;
}

std::string number(double value) { return format(value < 1e6 ? "%g" : "%.0f", value); }

std::string word(double x, double y, const char* anchor, const std::string& text,
                 const char* kind = "") {
    return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                  kind) +
           escaped(text) + "</text>\n";
}

std::string stroke(const char* kind, double x1, double y1, double x2, double y2) {
    return format("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind,
                  x1, y1, x2, y2);
}

// Where values lie in the picture.
struct Frame {
    double bottom = 0, x_end = 1, y_end = 1;

    double across(double x) const { return left + (right - left) * x / x_end; }
    double up(double value) const { return bottom - plot_height * value / y_end; }
};

std::string path(const Frame& frame, const std::vector<Point>& points, const std::string& kind) {
    std::string text = "<polyline class=\"" + kind + "\" points=\"";
    for (const Point& point : points)
        text += format("%.1f,%.1f ", frame.across(point.x), frame.up(point.y));
    return text + "\"/>\n";
}

std::string marks(const Frame& frame, const Line& line, const std::string& colour) {
    std::string text;
    for (const Point& point : line.points)
        text += format("<circle class=\"mark %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                       colour.c_str(), frame.across(point.x), frame.up(point.y)) +
                escaped(line.name) + ": " + number(point.y) + " at " + number(point.x) +
                "</title></circle>\n";
    return text;
}

std::string axes(const Frame& frame, const Chart& chart) {
    std::string text;
    const double y_step = decimal_step(frame.y_end, 6), x_step = binary_step(frame.x_end, 9);
    for (int i = 0; i * y_step <= frame.y_end * 1.0001; ++i) {
        const double y = frame.up(i * y_step);
        text += stroke(i == 0 ? "axis" : "grid", left, y, right, y);
        text += word(left - 8, y + 4, "end", number(i * y_step));
    }
    for (int i = 0; i * x_step <= frame.x_end * 1.0001; ++i) {
        const double x = frame.across(i * x_step);
        text += stroke("axis", x, frame.bottom, x, frame.bottom + 4);
        text += word(x, frame.bottom + 18, "middle", number(i * x_step));
    }
    text += word((left + right) / 2, frame.bottom + 38, "middle", chart.x_name);
    return text + word(left - 8, frame.bottom - plot_height - 14, "start", chart.y_name);
}

// Name by name, and what dashes mean.
std::string legend(const Frame& frame, const Chart& chart) {
    std::string text;
    double y = frame.bottom + foot + 8;
    bool limits = false;
    for (size_t i = 0; i < chart.lines.size(); ++i, y += legend_row) {
        const std::string colour = "c" + std::to_string(i % colours);
        text += stroke(("line " + colour).c_str(), left, y, left + 26, y);
        text += word(left + 36, y + 4, "start", chart.lines[i].name);
        limits = limits || !chart.lines[i].limit.empty();
    }
    if (!limits) return text;
    text += stroke("axis limit", left, y, left + 26, y);
    return text + word(left + 36, y + 4, "start", "dashed: what the hardware allows");
}

double height_of(const Chart& chart) {
    return top + plot_height + foot + legend_row * double(chart.lines.size() + 1) + 8;
}

std::string draw(const Chart& chart, double y) {
    Frame frame{.bottom = y + top + plot_height};
    double x_end = 0, y_end = 0;
    for (const Line& line : chart.lines)
        for (const auto* points : {&line.points, &line.limit})
            for (const Point& point : *points) {
                x_end = std::max(x_end, point.x);
                y_end = std::max(y_end, point.y);
            }
    frame.x_end = x_end > 0 ? x_end : 1;
    const double step = decimal_step(y_end > 0 ? y_end : 1, 6);
    frame.y_end = step * std::ceil((y_end > 0 ? y_end : 1) / step);
    std::string text = word(left - 8, y + 26, "start", chart.title, "title") + axes(frame, chart);
    for (size_t i = 0; i < chart.lines.size(); ++i) {
        const Line& line = chart.lines[i];
        const std::string colour = "c" + std::to_string(i % colours);
        if (!line.limit.empty()) text += path(frame, line.limit, "line limit " + colour);
        text += path(frame, line.points, "line " + colour) + marks(frame, line, colour);
    }
    return text + legend(frame, chart);
}

}  // namespace

double decimal_step(double end, int most) {
    double step = std::pow(10, std::floor(std::log10(end / most)));
    for (double factor : {1.0, 2.0, 5.0, 10.0})
        if (end / (step * factor) <= most) return step * factor;
    return step * 10;
}

double binary_step(double end, int most) {
    double step = 1;
    while (end / step > most) step *= 2;
    return step;
}

std::string to_svg(const std::vector<Chart>& charts) {
    double height = 0;
    for (const Chart& chart : charts) height += height_of(chart);
    std::string text = format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\">\n",
        width, height, width, height);
    text += style;
    text += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    double y = 0;
    for (const Chart& chart : charts) {
        text += draw(chart, y);
        y += height_of(chart);
    }
    return text + "</svg>\n";
}

}  // namespace tandem::cli
