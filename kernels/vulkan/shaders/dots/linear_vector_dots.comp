// y = W x for a few tokens, in int8: x is in int8 blocks, and an invocation takes a quad of a block
// at a time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "linear_vector.glsl"
#include "type_of_dots.glsl"
#include "dots_of_runs.glsl"

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
