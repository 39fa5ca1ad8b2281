// Products of gate and up of every choice, of which hidden rows are made (moe_ffn.cpp).
layout(push_constant) uniform Parameters {
    uint64_t count, ids, gate_scale, up_scale, gate_bias, up_bias;
    uint64_t gates, ups;  // [choices rows]
    uint64_t hidden;      // likewise, or in int8 blocks
    uint ids_stride, used, first_expert, experts, rows;
};

#include "experts.glsl"
#include "expert_unit.glsl"

// An element of a hidden row, by its number in all of them.
float unit_of_products(uint id, uint number) {
    return expert_unit(id, number % rows, Floats(gates).at[number], Floats(ups).at[number]);
}
