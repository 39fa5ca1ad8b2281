// What becomes of a product (kernels/vulkan/linear_chain.h).
const uint plain = 0;
const uint plus_like = 1;  // an addend that lies as y does
const uint plus_row = 2;   // one number for each row of W
const uint plus_both = 3;  // both: there are two addresses, that of the row's numbers first
const uint gated = 4;      // and above: it is the gate of a unit, the second matrix gives the other part

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Addends {
    uint64_t of_row, like;
};

float finished(uint kind, uint64_t other, float product, float second, uint row, uint at) {
    if (kind == plus_like) return product + Floats(other).at[at];
    if (kind == plus_row) return product + Floats(other).at[row];
    if (kind == plus_both) {
        Addends both = Addends(other);
        return product + Floats(both.of_row).at[row] + Floats(both.like).at[at];
    }
    return kind == plain ? product : gated_unit(kind - gated, product, second);
}
