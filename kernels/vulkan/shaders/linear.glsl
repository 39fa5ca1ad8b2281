// What both ways of a product y = W x have in common (kernels/vulkan/ops/linear.cpp).
#include "runs.glsl"
#include "units.glsl"
#include "linear_kinds.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, w, x, y, codebook;
    uint64_t other;  // an addend, or a second matrix
    uint rows, columns, row_bytes, per_live;
    Runs weight_rows;  // where the rows of W lead in x and y
    Runs token_rows;   // and those of x
};
