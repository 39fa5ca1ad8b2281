// How the rows of a file tensor run over axes: outer axes, within which parts stand one after
// another, nested at will. Each innermost part is a weight of its own:
//     {kv_heads q_per_kv} x [q: {d} | gate: {d}]
// says that every head has d rows of q and then d rows of gate.
#pragma once

#include <string>
#include <vector>

#include "graph/tensor.h"

namespace tandem::graph {

struct Layout {
    Shape outer;
    std::vector<Layout> parts;  // empty: the rows are those of `outer`

    Layout(Shape outer, std::vector<Layout> parts = {})
        : outer(std::move(outer)), parts(std::move(parts)) {}
};

// Rows of the whole tensor.
int64_t rows(const Layout& layout);

// One innermost part: its row axes and where its rows lie.
struct Part {
    Shape axes;
    int64_t first = 0;
    std::vector<int64_t> strides;
};

// The innermost parts in the order in which they are written.
std::vector<Part> separate(const Layout& layout);

}  // namespace tandem::graph
