// Operands of an element-by-element kernel, walked together: their axes merged to the fewest runs.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "graph/op.h"

namespace tandem::kernels::vulkan {

inline constexpr size_t walk_axes = 5, walk_operands = 3;

// As shaders have it (walk.glsl). The first axis may be live: its extent is not used.
struct Walk {
    uint32_t per_live = 1;  // elements for each live one of the first axis, or all of them
    uint32_t axes = 1;
    uint32_t extents[walk_axes] = {};
    uint32_t strides[walk_operands][walk_axes] = {};  // 0 along an axis that an operand lacks
};

// The axes are those of `views[0]`, without the last `rows_of` ones, which a kernel runs over by
// itself; the others may lack some of them. No operation has more runs than fit.
Walk walk(std::span<const graph::View> views, size_t rows_of = 0);

// True where four neighbours of a walk's second operand, which begins at x, can be read at once:
// the first operand is its dense view, and the first neighbour's number there a multiple of four.
bool reads_fours(const Walk& walk, uint64_t x);

}  // namespace tandem::kernels::vulkan
