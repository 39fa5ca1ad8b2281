// Hidden rows of experts, where gate and up were multiplied each by itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, ids, gate_scale, up_scale, gate_bias, up_bias;
    uint64_t gates, ups;  // [choices rows]; the units take the place of the first
    uint ids_stride, used, first_expert, experts, rows;
};

#include "experts.glsl"
#include "expert_unit.glsl"

void main() {
    uint number = invocation_number(), choice = number / rows;
    if (choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;
    Floats(gates).at[number] =
        expert_unit(id, number % rows, Floats(gates).at[number], Floats(ups).at[number]);
}
