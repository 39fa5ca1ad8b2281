// Products of experts for many tokens on matrix units: a workgroup takes a tile of one expert's rows
// and choices.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "expert_tiles.glsl"
#include "type.glsl"
#include "fours.glsl"
#include "halves.glsl"

layout(constant_id = 7) const bool aligned = false;  // x can be read four numbers at a time

const uint matrices = 1;
#include "matrix_tile.glsl"
#include "expert_rows.glsl"

// Weights are decoded once for all of the tile. Rows of x are read in the order of the matrix's
// parts, as in tile.glsl; past the end there are zeros.
const uint parts_of_block = block_elements / 8;
uint blocks() { return (columns + block_elements - 1) / block_elements; }

uvec4 part_of_w(uint row, uint part) {
    bool inside = part < blocks() * parts_of_block;
    part = inside ? part : 0;
    vec4 a, b;
    decode(matrix + uint64_t(min(first_row + row, rows - 1)) * row_bytes, blocks(),
           part / parts_of_block, part % parts_of_block, a, b);
    return inside ? halves_of(a, b) : uvec4(0);
}

uvec4 part_of_x(uint token, uint part) {
    uvec2 places = part / parts_of_block * block_elements + places_of(part % parts_of_block);
    uint64_t row = x + uint64_t(token_at[token].x) * 4;
    return halves_of(four_of(row, places.x, columns, aligned),
                     four_of(row, places.y, columns, aligned));
}

void main() {
    uint tokens = find_tile();
    if (tokens == 0) return;
    add_up_tile(blocks() * parts_of_block);
    [[unroll]] for (uint r = 0; r < row_fragments; ++r) {
        uint row_of_fragment = (first_row_fragment() + r) * fragment_rows;
        [[unroll]] for (uint t = 0; t < token_fragments; ++t) {
            stage_sums(r, t);
            uint token_of_fragment = (first_token_fragment() + t) * fragment_tokens;
            for (uint i = gl_SubgroupInvocationID; i < fragment_sums; i += gl_SubgroupSize) {
                uint row = first_row + row_of_fragment + i % fragment_rows;
                uint token = token_of_fragment + i / fragment_rows;
                if (row < rows && token < tokens)
                    Floats(y).at[token_at[token].y + row] = staged(0, i);
            }
        }
    }
}
