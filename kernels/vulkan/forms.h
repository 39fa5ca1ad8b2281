// The forms of activations that kernels read.
#pragma once

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Elements in the order of the axes, without gaps.
const Form& dense();
// A view of the value in that form.
graph::View dense_view(graph::View view);

// The same order as f16, for values whose rows are multiples of 32; what is too large for f16
// becomes the largest number that is not.
const Form& halves();

// The same order in int8 blocks, for values whose rows are multiples of 32
// (shaders/int8_blocks.glsl).
const Form& int8_blocks();
int64_t int8_bytes(int64_t elements);
inline constexpr int64_t rows_of_block = 32;  // that results in a block come from
// `y` of that many bytes becomes the form of x, which may lie in any way.
Dispatch to_int8_blocks(const graph::View& x, Address x_at, Address y_at, const Site& site);

}  // namespace tandem::kernels::vulkan
