// A tile of products in f32. Both sides come into shared memory a few parts of their rows at a time,
// weights decoded once for all of the tile, and from there into registers. Rows of x are read in the
// order of the matrix's parts, whatever places these have in a block: a sum may have its addends in
// any order.
//
// All products add up in one order, so the shape of the tile changes no bit of them.
//
// The shader has the decoder of a type, and `x`.
#include "fours.glsl"
#include "tile_shape.glsl"

layout(constant_id = 3) const uint parts_at_once = 4;
layout(constant_id = 4) const bool aligned = false;  // x can be read four numbers at a time

// Eight numbers of a part are two vectors. Another one keeps rows that are read at once, eight of
// them, in different banks.
const uint tile_stride = 2 * parts_at_once + 1;
shared vec4 tile_w[tile_rows * tile_stride];
shared vec4 tile_x[tile_tokens * tile_stride];

void fill_tile(uint columns, uint first_part) {
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    const uint self = gl_LocalInvocationIndex, all = gl_WorkGroupSize.x;
    for (uint i = self; i < tile_rows * parts_at_once; i += all) {
        uint row = i / parts_at_once, number = i % parts_at_once, part = first_part + number;
        vec4 a = vec4(0), b = vec4(0);
        if (part < blocks * parts) decode(row_of_w(row), blocks, part / parts, part % parts, a, b);
        uint at = row * tile_stride + 2 * number;
        tile_w[at] = a;
        tile_w[at + 1] = b;
    }
    for (uint i = self; i < tile_tokens * parts_at_once; i += all) {
        uint token = i / parts_at_once, number = i % parts_at_once, part = first_part + number;
        vec4 a = vec4(0), b = vec4(0);
        if (part < blocks * parts) {
            uvec2 places = part / parts * block_elements + places_of(part % parts);
            uint64_t row = x + uint64_t(place_in_x(token)) * 4;
            a = four_of(row, places.x, columns, aligned);
            b = four_of(row, places.y, columns, aligned);
        }
        uint at = token * tile_stride + 2 * number;
        tile_x[at] = a;
        tile_x[at + 1] = b;
    }
}

float with_product(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

void add_up_tile(uint columns) {
    for (uint i = 0; i < rows_each * tokens_each; ++i) sums[i] = 0;
    uint parts = (columns + block_elements - 1) / block_elements * (block_elements / 8);
    for (uint part = 0; part < parts; part += parts_at_once) {
        barrier();
        fill_tile(columns, part);
        barrier();
        for (uint i = 0; i < 2 * parts_at_once; ++i) {
            vec4 of_w[rows_each];
            for (uint r = 0; r < rows_each; ++r) of_w[r] = tile_w[row_in_tile(r) * tile_stride + i];
            for (uint t = 0; t < tokens_each; ++t) {
                vec4 of_x = tile_x[token_in_tile(t) * tile_stride + i];
                for (uint r = 0; r < rows_each; ++r) {
                    uint at = r * tokens_each + t;
                    sums[at] = with_product(sums[at], of_w[r], of_x);
                }
            }
        }
    }
}
