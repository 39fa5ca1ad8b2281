// Products of some rows of weights and one of int8 blocks, which the invocations of a subgroup share:
// each takes quads of the rows' blocks in turn, several of them at once. The shader says how many
// rows there are (const uint products) and how many quads are loaded at once (items_at_once).
#extension GL_EXT_control_flow_attributes : require
#include "dots_of_runs.glsl"

uint64_t from[products];  // the rows,
float sums[products];     // and this invocation's part of their products

// Adds the products with the row of x that begins with element `first_of_x`, times `weight`.
void add_products(uint columns, uint64_t x, uint first_of_x, float weight) {
    const uint quads = block_elements / 32;
    uint blocks = columns / block_elements, last = blocks * quads - 1;
    for (uint first = gl_SubgroupInvocationID; first <= last;
         first += items_at_once * gl_SubgroupSize) {
        WeightRuns of_w[items_at_once * products];
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = min(first + i * gl_SubgroupSize, last);
            [[unroll]] for (uint p = 0; p < products; ++p)
                of_w[i * products + p] = weight_runs(from[p], blocks, item / quads, item % quads);
        }
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = first + i * gl_SubgroupSize;
            float share = item <= last ? weight : 0;
            item = min(item, last);
            TokenRuns of_x = token_runs(
                x, first_of_x + item / quads * block_elements + runs_of(item % quads));
            [[unroll]] for (uint p = 0; p < products; ++p)
                sums[p] += share * product_of_runs(of_w[i * products + p], of_x);
        }
    }
}
