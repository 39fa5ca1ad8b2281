// What matrix units allow: products of fragments that depend on nothing but registers. The results
// only keep the work from being left out.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t to;
    uint rounds;  // of the products of a tile's fragments
};

const uint matrices = 1;
#include "matrix_tile.glsl"

uvec4 part_of_w(uint row, uint part) { return uvec4(0x00010001u * (row % 8)); }  // halves next to 0
uvec4 part_of_x(uint token, uint part) { return uvec4(0x00010001u * (token % 8)); }

void main() {
    fetch(0);
    fill_tile();
    barrier();
    [[unroll]] for (uint i = 0; i < row_fragments * token_fragments; ++i) clear_sums(i);
    [[unroll]] for (uint r = 0; r < row_fragments; ++r) load_left(r, r * fragment_rows * tile_stride);
    load_right(tile_rows * tile_stride);
    for (uint round = 0; round < rounds; ++round)
        [[unroll]] for (uint t = 0; t < token_fragments; ++t)
            [[unroll]] for (uint r = 0; r < row_fragments; ++r)
                add_products(r * token_fragments + t, r);
    barrier();
    float sum = 0;
    [[unroll]] for (uint r = 0; r < row_fragments; ++r)
        [[unroll]] for (uint t = 0; t < token_fragments; ++t) {
            stage_sums(r, t);
            sum += staged(0, gl_SubgroupInvocationID);
        }
    if (sum == 12345.678) Floats(to).at[0] = sum;
}
