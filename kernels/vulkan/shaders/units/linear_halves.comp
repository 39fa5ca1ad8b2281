// y = W x for many tokens on matrix units, of some rows of W: a workgroup computes a tile of y. Both
// sides are halves, in the order of the elements, and rows are whole parts of 32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "units.glsl"
#include "linear_kinds.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, w, x, y;
    uint64_t other;  // an addend, or the second matrix
    uint rows, first_row, columns, per_live;  // rows of w, and which of the whole matrix's is its first
    Runs weight_rows, token_rows;             // where they lead in y
};

layout(constant_id = 7) const uint kind = 0;
layout(constant_id = 8) const uint matrices = 1;

#include "matrix_tile.glsl"

const uint rows_of_y = tile_rows / matrices;

uint first_of_tile, first_token, last_token;
shared uint y_of_row[rows_of_y], y_of_token[tile_tokens];

uvec4 part_of_w(uint row, uint part) {
    uint fragment = row / fragment_rows;
    row = first_of_tile + fragment / matrices * fragment_rows + row % fragment_rows;
    uint at = min(row, rows - 1) * (columns / 8) + min(part, columns / 8 - 1);
    return Quads(fragment % matrices == 0 ? w : other).at[at];
}

uvec4 part_of_x(uint token, uint part) {
    return Quads(x).at[min(first_token + token, last_token) * (columns / 8) +
                       min(part, columns / 8 - 1)];
}

void main() {
    // Workgroups that take the same rows run side by side, so that memory gives them out once.
    first_of_tile = gl_WorkGroupID.y * rows_of_y;
    first_token = group_number() * tile_tokens;
    uint tokens = live_count(count) * per_live;
    if (first_token >= tokens) return;
    last_token = tokens - 1;
    for (uint r = gl_LocalInvocationIndex; r < rows_of_y; r += gl_WorkGroupSize.x)
        y_of_row[r] = places(weight_rows, first_row + min(first_of_tile + r, rows - 1)).y;
    for (uint t = gl_LocalInvocationIndex; t < tile_tokens; t += gl_WorkGroupSize.x)
        y_of_token[t] = places(token_rows, min(first_token + t, last_token)).y;
    add_up_tile(columns / 8);
    [[unroll]] for (uint r = 0; r < row_fragments; r += matrices) {
        uint row_of_fragment = (first_row_fragment() + r) / matrices * fragment_rows;
        [[unroll]] for (uint t = 0; t < token_fragments; ++t) {
            stage_sums(r, t);
            uint token_of_fragment = (first_token_fragment() + t) * fragment_tokens;
            for (uint i = gl_SubgroupInvocationID; i < fragment_sums; i += gl_SubgroupSize) {
                uint row = row_of_fragment + i % fragment_rows;
                uint token = token_of_fragment + i / fragment_rows;
                if (first_of_tile + row >= rows || first_token + token >= tokens) continue;
                uint at = y_of_token[token] + y_of_row[row];
                float second = matrices > 1 ? staged(1, i) : 0;
                Floats(y).at[at] = finished(kind, other, staged(0, i), second,
                                            first_row + first_of_tile + row, at);
            }
        }
    }
}
