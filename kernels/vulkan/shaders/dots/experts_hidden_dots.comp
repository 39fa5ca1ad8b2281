// Hidden rows of experts for a few tokens, in int8: a workgroup takes as many rows as an int8 block
// has elements, of gate and up for a choice, its subgroups some of these in turn, and its
// invocations the quads of their blocks, several of them at once. x is in int8 blocks, and so is y.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, ids, gate_scale, up_scale, gate_bias, up_bias;
    uint64_t gate, up, x, y, codebook;
    uint ids_stride, used, first_expert, experts, rows, columns, row_bytes, x_stride;
};

#include "experts.glsl"
#include "expert_unit.glsl"
#include "type_of_dots.glsl"

const uint rows_at_once = 2;  // of a subgroup; of gate, and as many of up
const uint products = 2 * rows_at_once, items_at_once = 2;
#include "dots_of_rows.glsl"

const uint tokens_at_once = 1;
#include "block_of_rows.glsl"

void main() {
    uint first_row = group_number() * block_rows, choice = gl_WorkGroupID.y;
    if (first_row >= rows || choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;
    for (uint at = gl_SubgroupID * rows_at_once; at < block_rows;
         at += gl_NumSubgroups * rows_at_once) {
        [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
            uint64_t row = uint64_t(held(id)) * rows + first_row + at + r;
            from[2 * r] = gate + row * row_bytes;
            from[2 * r + 1] = up + row * row_bytes;
            sums[2 * r] = sums[2 * r + 1] = 0;
        }
        add_products(columns, x, choice / used * columns, 1);
        [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
            float of_gate = subgroupAdd(sums[2 * r]), of_up = subgroupAdd(sums[2 * r + 1]);
            if (subgroupElect())
                results[at + r] = expert_unit(id, first_row + at + r, of_gate, of_up);
        }
    }
    put_block_of_rows(y, choice * rows + first_row, 0, 1);
}
