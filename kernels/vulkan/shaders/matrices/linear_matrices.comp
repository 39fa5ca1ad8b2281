// y = W x for many tokens on matrix units: a workgroup computes a tile of y.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "linear.glsl"

layout(constant_id = 8) const uint kind = 0;
layout(constant_id = 9) const uint matrices = 1;

#include "type.glsl"
#include "matrix_tile.glsl"

const uint rows_of_y = tile_rows / matrices;

uint first_row, first_token;
shared uint y_of_row[rows_of_y];
shared uvec2 token_at[tile_tokens];

uint64_t row_of_w(uint row) {
    uint fragment = row / fragment_rows;
    uint64_t matrix = fragment % matrices == 0 ? w : other;
    row = first_row + fragment / matrices * fragment_rows + row % fragment_rows;
    return matrix + uint64_t(min(row, rows - 1)) * row_bytes;
}
uint64_t row_of_x(uint token) { return x + uint64_t(token_at[token].x) * 4; }

void main() {
    // Workgroups that take the same rows run side by side, so that memory gives them out once.
    first_row = gl_WorkGroupID.y * rows_of_y;
    first_token = group_number() * tile_tokens;
    uint tokens = live_count(count) * per_live;
    if (first_token >= tokens) return;
    for (uint r = gl_LocalInvocationIndex; r < rows_of_y; r += gl_WorkGroupSize.x)
        y_of_row[r] = places(weight_rows, min(first_row + r, rows - 1)).y;
    for (uint t = gl_LocalInvocationIndex; t < tile_tokens; t += gl_WorkGroupSize.x)
        token_at[t] = places(token_rows, min(first_token + t, tokens - 1));
    add_up_tile(columns);
    [[unroll]] for (uint r = 0; r < row_fragments; r += matrices) {
        uint row_of_fragment = (first_row_fragment() + r) / matrices * fragment_rows;
        [[unroll]] for (uint t = 0; t < token_fragments; ++t) {
            stage_sums(r, t);
            uint token_of_fragment = (first_token_fragment() + t) * fragment_tokens;
            for (uint i = gl_SubgroupInvocationID; i < fragment_sums; i += gl_SubgroupSize) {
                uint row = row_of_fragment + i % fragment_rows;
                uint token = token_of_fragment + i / fragment_rows;
                if (first_row + row >= rows || first_token + token >= tokens) continue;
                uint at = token_at[token].y + y_of_row[row];
                float second = matrices > 1 ? staged[staged_at(1) + i] : 0;
                Floats(y).at[at] =
                    finished(kind, staged[staged_at(0) + i], second, first_row + row, at);
            }
        }
    }
}
