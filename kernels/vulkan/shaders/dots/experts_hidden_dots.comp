// Hidden rows of experts for a few tokens, in int8: a subgroup takes some rows of gate and up for a
// choice, its invocations the quads of their blocks in turn, several of them at once. x is in int8
// blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
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
#include "dots_of_runs.glsl"

const uint products = 2 * rows_at_once, items_at_once = rows_at_once > 1 ? 2 : 4;

void main() {
    uint subgroup = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint first_row = subgroup * rows_at_once, choice = gl_WorkGroupID.y;
    if (first_row >= rows || choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;

    uint64_t from[products];
    float sums[products];
    [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
        uint64_t row = uint64_t(held(id)) * rows + min(first_row + r, rows - 1);
        from[2 * r] = gate + row * row_bytes;
        from[2 * r + 1] = up + row * row_bytes;
        sums[2 * r] = sums[2 * r + 1] = 0;
    }
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
            float inside = item <= last ? 1 : 0;
            item = min(item, last);
            TokenRuns of_x = token_runs(x, choice / used * columns +
                                               item / quads * block_elements + runs_of(item % quads));
            [[unroll]] for (uint p = 0; p < products; ++p)
                sums[p] += inside * product_of_runs(of_w[i * products + p], of_x);
        }
    }
    [[unroll]] for (uint r = 0; r < rows_at_once; ++r) {
        float of_gate = subgroupAdd(sums[2 * r]), of_up = subgroupAdd(sums[2 * r + 1]);
        if (!subgroupElect() || first_row + r >= rows) continue;
        Floats(y).at[choice * rows + first_row + r] = expert_unit(id, first_row + r, of_gate, of_up);
    }
}
