// Rows made to a length: RMS norm with or without a weight, and the norm of a vector's length. A
// workgroup takes a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint kind = 0;  // 0: RMS with a weight, 1: RMS, 2: length

layout(push_constant) uniform Parameters {
    uint64_t count, x, weight, y;
    uint per_live, length;
    float epsilon;
    Runs rows;
};

void main() {
    uint number = group_number();
    if (number >= live_count(count) * per_live) return;
    uvec2 at = places(rows, number);
    Floats from = Floats(x + uint64_t(at.x) * 4), to = Floats(y + uint64_t(at.y) * 4);
    float squares = 0;
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        squares += from.at[i] * from.at[i];
    squares = workgroup_sum(squares);
    float factor = kind == 2 ? 1 / max(sqrt(squares), epsilon)
                             : 1 / sqrt(squares / float(length) + epsilon);
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        to.at[i] = from.at[i] * factor * (kind == 0 ? Floats(weight).at[i] : 1);
}
