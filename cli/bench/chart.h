// Lines over two axes as a picture: a self-contained SVG file that is read on light and on dark
// ground.
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

struct Point {
    double x = 0, y = 0;
};

struct Line {
    std::string name;
    std::vector<Point> points;  // x ascends
    std::vector<Point> limit;   // drawn dashed in the line's colour; may be empty
};

// Both axes begin at 0.
struct Chart {
    std::string title, x_name, y_name;
    std::vector<Line> lines;
};

// The charts, one below the other.
std::string to_svg(const std::vector<Chart>& charts);

// Where an axis has its marks: a step of 1, 2 or 5 times a power of ten (of 1 time a power of two
// for numbers of tokens) that is taken at most `most` times up to `end`.
double decimal_step(double end, int most);
double binary_step(double end, int most);

}  // namespace tandem::cli
