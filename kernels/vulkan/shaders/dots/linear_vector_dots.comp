// y = W x for a few tokens, in int8: x is in int8 blocks, and an invocation takes a quad of a block
// at a time. y may be in int8 blocks, too: a workgroup takes as many rows as a block has elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "linear_vector.glsl"
#include "type_of_dots.glsl"
#include "dots_of_runs.glsl"
#include "block_of_rows.glsl"

layout(constant_id = 6) const bool in_blocks = false;  // so is y

void add_up() {
    const uint quads = block_elements / 32;
    uint blocks = columns / block_elements;
    const uint last = blocks * quads - 1;
    for (uint first = gl_SubgroupInvocationID; first <= last;
         first += items_at_once * gl_SubgroupSize) {
        WeightRuns of_w[items_at_once * products];
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = min(first + i * gl_SubgroupSize, last);
            [[unroll]] for (uint r = 0; r < products; ++r)
                of_w[i * products + r] = weight_runs(from[r], blocks, item / quads, item % quads);
        }
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = first + i * gl_SubgroupSize;
            float inside = item <= last ? 1 : 0;
            item = min(item, last);
            uvec2 at = item / quads * block_elements + runs_of(item % quads);
            [[unroll]] for (uint t = 0; t < tokens_at_once; ++t) {
                TokenRuns of_x = token_runs(x, token_at[t] + at);
                [[unroll]] for (uint r = 0; r < products; ++r)
                    sums[r * tokens_at_once + t] +=
                        inside * product_of_runs(of_w[i * products + r], of_x);
            }
        }
    }
}

// y has its elements token by token, row by row.
void put_blocks() {
    uint first_row = group_number() * block_rows, first_token = gl_WorkGroupID.y * tokens_at_once;
    uint tokens = tokens_in_all();
    if (first_row >= rows || first_token >= tokens) return;
    for (uint row = gl_SubgroupID * rows_at_once; row < block_rows;
         row += gl_NumSubgroups * rows_at_once) {
        multiply(first_row + row, first_token, tokens);
        if (subgroupElect())
            for (uint r = 0; r < rows_at_once; ++r)
                for (uint t = 0; t < tokens_at_once; ++t)
                    results[t * block_rows + row + r] = result_of(r, t, first_row + row + r);
    }
    put_block_of_rows(y, first_token * rows + first_row, rows, tokens - first_token);
}

void main() {
    if (in_blocks)
        put_blocks();
    else
        put_results();
}
