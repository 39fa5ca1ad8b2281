// Puts together what the parts of a cache gave for a head of a token.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "step.glsl"
#include "attend.glsl"

layout(constant_id = 1) const uint dv = 64;
layout(constant_id = 2) const uint parts = 1;

shared float shares[parts];  // what the results of each part count

void main() {
    uint number = group_number(), heads = attention.kv_heads * attention.q_per_kv;
    uint token = number / heads, head = number % heads;
    if (token >= live_count(attention.count)) return;
    for (uint part = gl_LocalInvocationIndex; part < parts; part += gl_WorkGroupSize.x)
        shares[part] = Floats(partial_of(token, head, part, dv)).at[0];
    barrier();
    float most = nothing, sum = 0;
    for (uint part = 0; part < parts; ++part) most = max(most, shares[part]);
    if (attention.sinks != 0) {
        float sink = Floats(attention.sinks).at[head];
        most = max(most, sink);
        sum = exp(sink - most);
    }
    barrier();
    for (uint part = gl_LocalInvocationIndex; part < parts; part += gl_WorkGroupSize.x)
        shares[part] = exp(shares[part] - most);
    barrier();
    [[unroll]] for (uint part = 0; part < parts; ++part)
        sum += Floats(partial_of(token, head, part, dv)).at[1] * shares[part];
    Floats to = Floats(row_of_head(attention.y, token, head / attention.q_per_kv,
                                   head % attention.q_per_kv));
    for (uint i = gl_LocalInvocationIndex; i < dv; i += gl_WorkGroupSize.x) {
        float result = 0;
        [[unroll]] for (uint part = 0; part < parts; ++part)
            result += Floats(partial_of(token, head, part, dv)).at[4 + i] * shares[part];
        to.at[i] = result / sum;
    }
}
