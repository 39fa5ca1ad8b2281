// y = W x for a few tokens: each subgroup takes some rows of W, and its invocations the parts of
// their blocks in turn, so that neighbours read neighbouring words. What is read of x serves all
// these rows, what is read of W all tokens.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "fours.glsl"
#include "linear.glsl"

layout(constant_id = 1) const uint rows_at_once = 2;  // which read the same of x
layout(constant_id = 2) const uint tokens_at_once = 1;
layout(constant_id = 3) const bool aligned = false;  // x can be read four numbers at a time
layout(constant_id = 4) const uint kind = 0;
layout(constant_id = 5) const uint matrices = 1;

#include "type.glsl"

void main() {
    uint subgroup = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint first_row = subgroup * rows_at_once, first_token = gl_WorkGroupID.y * tokens_at_once;
    uint tokens = live_count(count) * per_live;
    if (first_row >= rows || first_token >= tokens) return;

    uint64_t from[rows_at_once * matrices];  // rows of W, then of the second matrix
    uint y_of_row[rows_at_once];
    uint64_t x_of_rows = x + uint64_t(places(weight_rows, first_row).x) * 4;
    for (uint r = 0; r < rows_at_once; ++r) {
        uint row = min(first_row + r, rows - 1);
        from[r] = w + uint64_t(row) * row_bytes;
        if (matrices > 1) from[rows_at_once + r] = other + uint64_t(row) * row_bytes;
        y_of_row[r] = places(weight_rows, row).y;
    }
    uint64_t token_at[tokens_at_once];
    uint y_of_token[tokens_at_once];
    for (uint t = 0; t < tokens_at_once; ++t) {
        uvec2 at = places(token_rows, min(first_token + t, tokens - 1));
        token_at[t] = x_of_rows + uint64_t(at.x) * 4;
        y_of_token[t] = at.y;
    }

    const uint products = rows_at_once * matrices;
    float sums[products * tokens_at_once];
    for (uint i = 0; i < products * tokens_at_once; ++i) sums[i] = 0;
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    for (uint item = gl_SubgroupInvocationID; item < blocks * parts; item += gl_SubgroupSize) {
        uint block = item / parts, part = item % parts;
        uvec2 at = block * block_elements + places_of(part);
        vec4 a[products], b[products];
        for (uint r = 0; r < products; ++r) decode(from[r], blocks, block, part, a[r], b[r]);
        for (uint t = 0; t < tokens_at_once; ++t) {
            vec4 xa = four_of(token_at[t], at.x, columns, aligned);
            vec4 xb = four_of(token_at[t], at.y, columns, aligned);
            for (uint r = 0; r < products; ++r)
                sums[r * tokens_at_once + t] += dot(a[r], xa) + dot(b[r], xb);
        }
    }
    for (uint i = 0; i < products * tokens_at_once; ++i) sums[i] = subgroupAdd(sums[i]);
    if (!subgroupElect()) return;
    for (uint r = 0; r < rows_at_once; ++r)
        for (uint t = 0; t < tokens_at_once; ++t) {
            if (first_row + r >= rows || first_token + t >= tokens) continue;
            uint at = y_of_token[t] + y_of_row[r], i = r * tokens_at_once + t;
            float second = matrices > 1 ? sums[rows_at_once * tokens_at_once + i] : 0;
            Floats(y).at[at] = finished(kind, sums[i], second, first_row + r, at);
        }
}
