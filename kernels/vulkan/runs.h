// The axes of an operand and a result, merged to at most three runs (shaders/runs.glsl).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op.h"

namespace tandem::kernels::vulkan {

struct Runs {
    uint32_t extents[2] = {1, 1};       // of the second and the third
    uint32_t from[3] = {}, to[3] = {};  // strides
};

// `axes` with their local extents, as both views have them; an axis that a view lacks has stride 0.
// No operation has more runs than fit.
Runs runs_of(const graph::Shape& axes, const std::vector<int64_t>& extents, const graph::View& from,
             const graph::View& to);
// All axes of `view` but the last `rows_of`; the number of its rows for each live one of the first
// axis, or in all.
struct Rows {
    Runs runs;
    uint32_t per_live = 1;
    uint32_t length = 1;  // elements of the last `rows_of` axes, which lie together in both
};
Rows rows_of(const graph::View& view, const graph::View& result, size_t rows_of);

// The axes of a matrix that are not contracted.
graph::Shape row_axes(const graph::View& matrix);

// True where the last `columns` axes of the view lie one after another without gaps.
bool lies_together(const graph::View& view, size_t columns);

}  // namespace tandem::kernels::vulkan
