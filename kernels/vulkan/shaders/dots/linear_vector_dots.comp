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
    for (uint item = gl_SubgroupInvocationID; item < blocks * quads; item += gl_SubgroupSize) {
        uint block = item / quads, quad = item % quads;
        uvec2 at = block * block_elements + runs_of(quad);
        WeightRuns of_w[products];
        for (uint r = 0; r < products; ++r) of_w[r] = weight_runs(from[r], blocks, block, quad);
        for (uint t = 0; t < tokens_at_once; ++t) {
            TokenRuns of_x = token_runs(x, token_at[t] + at);
            for (uint r = 0; r < products; ++r)
                sums[r * tokens_at_once + t] += product_of_runs(of_w[r], of_x);
        }
    }
}
