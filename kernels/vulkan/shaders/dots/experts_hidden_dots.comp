// Hidden rows of experts for a few tokens, in int8: a subgroup takes some rows of gate and up for a
// choice, its invocations the quads of their blocks in turn, several of them at once. x is in int8
// blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"

layout(constant_id = 2) const uint rows_at_once = 1;

layout(push_constant) uniform Parameters {
    uint64_t count, ids, gate_scale, up_scale, gate_bias, up_bias;
    uint64_t gate, up, x, y, codebook;
    uint ids_stride, used, first_expert, experts, rows, columns, row_bytes, x_stride;
};

#include "experts.glsl"
#include "expert_unit.glsl"
#include "type_of_dots.glsl"

const uint products = 2 * rows_at_once, items_at_once = rows_at_once > 1 ? 2 : 4;
#include "dots_of_rows.glsl"

void main() {
    uint subgroup = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint first_row = subgroup * rows_at_once, choice = gl_WorkGroupID.y;
    if (first_row >= rows || choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;

    [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
        uint64_t row = uint64_t(held(id)) * rows + min(first_row + r, rows - 1);
        from[2 * r] = gate + row * row_bytes;
        from[2 * r + 1] = up + row * row_bytes;
        sums[2 * r] = sums[2 * r + 1] = 0;
    }
    add_products(columns, x, choice / used * columns, 1);
    [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
        float of_gate = subgroupAdd(sums[2 * r]), of_up = subgroupAdd(sums[2 * r + 1]);
        if (!subgroupElect() || first_row + r >= rows) continue;
        Floats(y).at[choice * rows + first_row + r] = expert_unit(id, first_row + r, of_gate, of_up);
    }
}
