// Rows made to shares of a whole: softmax, and rows divided by their sum. A workgroup takes a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "reduce.glsl"
#include "shares.glsl"

layout(constant_id = 1) const bool exponential = false;  // softmax

layout(push_constant) uniform Parameters {
    uint64_t count, x, y;
    uint per_live, length;
    Runs rows;
};

void main() {
    uint number = group_number();
    if (number >= live_count(count) * per_live) return;
    uvec2 at = places(rows, number);
    Floats from = Floats(x + uint64_t(at.x) * 4), to = Floats(y + uint64_t(at.y) * 4);
    float most = minus_infinity, sum = 0;
    if (exponential) {
        for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
            most = max(most, from.at[i]);
        most = workgroup_max(most);
    }
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        sum += exponential ? exp(from.at[i] - most) : from.at[i];
    sum = workgroup_sum(sum);
    if (!exponential) sum = max(sum, least_sum);
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        to.at[i] = (exponential ? exp(from.at[i] - most) : from.at[i]) / sum;
}
