// y = the weighted sum of down's products with the hidden rows of a token's choices, in int8, for a
// few tokens: a workgroup takes some rows of y, its subgroups the choices in turn. Hidden rows are
// in int8 blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint rows_at_once = 2;

#include "experts_result.glsl"
layout(push_constant) uniform Parameters {
    uint64_t count, ids, weights, scale;
    uint64_t down, hidden, codebook;
    uint ids_stride, weights_stride, used, first_expert, experts, rows, columns, row_bytes;
    ExpertsResult result;
};

#include "experts_sums.glsl"
#include "type_of_dots.glsl"

const uint products = rows_at_once, items_at_once = 2;
#include "dots_of_rows.glsl"

void main() {
    uint first_row = group_number() * rows_at_once, token = gl_WorkGroupID.y;
    if (first_row >= rows || token >= live_count(count)) return;
    [[unroll]] for (uint r = 0; r < rows_at_once; ++r) sums[r] = 0;
    for (uint i = gl_SubgroupID; i < used; i += gl_NumSubgroups) {
        uint choice = token * used + i, id = id_of(choice);
        if (held(id) >= experts) continue;
        float weight = weight_of(token, i);
        if (subgroupElect())
            for (uint r = 0; r < rows_at_once; ++r)
                sums[r] += weight * bias_of(id, min(first_row + r, rows - 1));
        if (scale != 0) weight *= Floats(scale).at[id];
        uint64_t matrix = down + uint64_t(held(id)) * rows * row_bytes;
        [[unroll]] for (uint r = 0; r < rows_at_once; ++r)
            from[r] = matrix + uint64_t(min(first_row + r, rows - 1)) * row_bytes;
        add_products(columns, hidden, choice * columns, weight);
    }
    // An invocation for each row.
    const uint self = gl_LocalInvocationIndex;
    float sum = 0;
    for (uint r = 0; r < rows_at_once; ++r) {
        float of_row = workgroup_sum(sums[r]);
        if (self == r) sum = of_row;
    }
    if (self < rows_at_once && first_row + self < rows) put_sum(token, first_row + self, sum);
}
