// Hidden rows of experts in int8 blocks, where gate and up were multiplied each by itself. Rows are
// multiples of 32; an invocation makes four elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "expert_products.glsl"
#include "to_int8_blocks.glsl"

void main() {
    uint first = invocation_number() * 4, choice = first / rows, id = 0;
    bool within = choice < live_count(count) * used;
    if (within) id = id_of(choice);
    within = within && held(id) < experts;
    vec4 values = vec4(0);
    if (within)
        for (uint i = 0; i < 4; ++i) values[i] = unit_of_products(id, first + i);
    put_in_blocks(hidden, first, values, within);
}
