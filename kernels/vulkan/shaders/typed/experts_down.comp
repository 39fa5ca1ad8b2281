// y = the weighted sum of down's products with the hidden rows of a token's choices, for a few
// tokens: a workgroup takes some rows of y, its subgroups the choices in turn.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "fours.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint rows_at_once = 4;
layout(constant_id = 2) const bool aligned = false;  // four numbers of `hidden` can be read at once

#include "experts_result.glsl"
layout(push_constant) uniform Parameters {
    uint64_t count, ids, weights, scale;
    uint64_t down, hidden, codebook;
    uint ids_stride, weights_stride, used, first_expert, experts, rows, columns, row_bytes;
    ExpertsResult result;
};

#include "experts_sums.glsl"
#include "type.glsl"

void main() {
    uint first_row = group_number() * rows_at_once, token = gl_WorkGroupID.y;
    if (first_row >= rows || token >= live_count(count)) return;
    float sums[rows_at_once];
    for (uint r = 0; r < rows_at_once; ++r) sums[r] = 0;
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    for (uint i = gl_SubgroupID; i < used; i += gl_NumSubgroups) {
        uint choice = token * used + i, id = id_of(choice);
        if (held(id) >= experts) continue;
        float weight = weight_of(token, i);
        if (subgroupElect())
            for (uint r = 0; r < rows_at_once; ++r)
                sums[r] += weight * bias_of(id, min(first_row + r, rows - 1));
        if (scale != 0) weight *= Floats(scale).at[id];
        uint64_t row = hidden + uint64_t(choice * columns) * 4;
        uint64_t matrix = down + uint64_t(held(id)) * rows * row_bytes;
        for (uint item = gl_SubgroupInvocationID; item < blocks * parts; item += gl_SubgroupSize) {
            uint block = item / parts, part = item % parts;
            uvec2 at = block * block_elements + places_of(part);
            vec4 h_a = weight * four_of(row, at.x, columns, aligned);
            vec4 h_b = weight * four_of(row, at.y, columns, aligned);
            for (uint r = 0; r < rows_at_once; ++r) {
                vec4 a, b;
                decode(matrix + uint64_t(min(first_row + r, rows - 1)) * row_bytes, blocks, block,
                       part, a, b);
                sums[r] += dot(a, h_a) + dot(b, h_b);
            }
        }
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
