#include "graph/layout.h"

namespace tandem::graph {

namespace {

// Rows of one repetition of the outer axes.
int64_t inner_rows(const Layout& layout) {
    if (layout.parts.empty()) return 1;
    int64_t sum = 0;
    for (const Layout& part : layout.parts) sum += rows(part);
    return sum;
}

void separate(const Layout& layout, Part so_far, std::vector<Part>& found) {
    int64_t stride = rows(layout);
    for (Axis axis : layout.outer) {
        stride /= axis->extent;
        so_far.axes.push_back(axis);
        so_far.strides.push_back(stride);
    }
    if (layout.parts.empty()) found.push_back(so_far);
    for (const Layout& part : layout.parts) {
        separate(part, so_far, found);
        so_far.first += rows(part);
    }
}

}  // namespace

int64_t rows(const Layout& layout) { return elements(layout.outer) * inner_rows(layout); }

std::vector<Part> separate(const Layout& layout) {
    std::vector<Part> found;
    separate(layout, {}, found);
    return found;
}

}  // namespace tandem::graph
