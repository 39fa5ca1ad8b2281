// What becomes of a product (kernels/vulkan/linear_chain.h).
const uint plain = 0;
const uint plus_like = 1;  // an addend that lies as y does
const uint plus_row = 2;   // one number for each row of W
const uint gated = 3;      // and above: it is the gate of a unit, the second matrix gives the other part

float finished(uint kind, uint64_t other, float product, float second, uint row, uint at) {
    if (kind == plus_like) return product + Floats(other).at[at];
    if (kind == plus_row) return product + Floats(other).at[row];
    return kind == plain ? product : gated_unit(kind - gated, product, second);
}
