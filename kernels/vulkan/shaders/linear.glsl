// What both ways of a product y = W x have in common (kernels/vulkan/ops/linear.cpp).
#include "runs.glsl"
#include "units.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, w, x, y, codebook;
    uint64_t other;  // an addend, or a second matrix
    uint rows, columns, row_bytes, per_live;
    Runs weight_rows;  // where the rows of W lead in x and y
    Runs token_rows;   // and those of x
};

// What becomes of a product.
const uint plain = 0;
const uint plus_like = 1;  // an addend that lies as y does
const uint plus_row = 2;   // one number for each row of W
const uint gated = 3;      // and above: it is the gate of a unit, the second matrix gives the other part

float finished(uint kind, float product, float second, uint row, uint at) {
    if (kind == plus_like) return product + Floats(other).at[at];
    if (kind == plus_row) return product + Floats(other).at[row];
    return kind == plain ? product : gated_unit(kind - gated, product, second);
}
