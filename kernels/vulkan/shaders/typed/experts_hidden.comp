// Hidden rows of experts for a few tokens: a subgroup takes some rows of gate and up for a choice,
// its invocations the parts of their blocks in turn. Where gate and up have different types, each
// is multiplied by itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "fours.glsl"

layout(constant_id = 2) const uint rows_at_once = 2;
layout(constant_id = 3) const bool both = true;  // gate and up; or gate alone, and no unit
layout(constant_id = 4) const bool aligned = false;  // x can be read four numbers at a time

layout(push_constant) uniform Parameters {
    uint64_t count, ids, gate_scale, up_scale, gate_bias, up_bias;
    uint64_t gate, up, x, y, codebook;
    uint ids_stride, used, first_expert, experts, rows, columns, row_bytes, x_stride;
};

#include "experts.glsl"
#include "expert_unit.glsl"
#include "type.glsl"

void main() {
    uint subgroup = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint first_row = subgroup * rows_at_once, choice = gl_WorkGroupID.y;
    if (first_row >= rows || choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;

    uint64_t places_in_stack[rows_at_once], token = x + uint64_t(choice / used * x_stride) * 4;
    float of_gate[rows_at_once], of_up[rows_at_once];
    for (uint r = 0; r < rows_at_once; ++r) {
        uint64_t row = uint64_t(held(id)) * rows + min(first_row + r, rows - 1);
        places_in_stack[r] = row * row_bytes;
        of_gate[r] = 0;
        of_up[r] = 0;
    }
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    for (uint item = gl_SubgroupInvocationID; item < blocks * parts; item += gl_SubgroupSize) {
        uint block = item / parts, part = item % parts;
        uvec2 at = block * block_elements + places_of(part);
        vec4 x_a = four_of(token, at.x, columns, aligned);
        vec4 x_b = four_of(token, at.y, columns, aligned);
        for (uint r = 0; r < rows_at_once; ++r) {
            vec4 a, b;
            decode(gate + places_in_stack[r], blocks, block, part, a, b);
            of_gate[r] += dot(a, x_a) + dot(b, x_b);
            if (both) {
                decode(up + places_in_stack[r], blocks, block, part, a, b);
                of_up[r] += dot(a, x_a) + dot(b, x_b);
            }
        }
    }
    for (uint r = 0; r < rows_at_once; ++r) {
        float value = subgroupAdd(of_gate[r]), other = both ? subgroupAdd(of_up[r]) : 0;
        if (!subgroupElect() || first_row + r >= rows) continue;
        if (both) value = expert_unit(id, first_row + r, value, other);
        Floats(y).at[choice * rows + first_row + r] = value;
    }
}
