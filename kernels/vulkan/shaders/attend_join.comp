// Puts together what the parts of a cache gave for a head of a token, in f32, in int8 blocks or in
// both.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "step.glsl"
#include "attend.glsl"
#include "to_int8_blocks.glsl"

layout(constant_id = 1) const uint dv = 64;
layout(constant_id = 2) const uint parts = 1;
layout(constant_id = 3) const bool plain = true;       // there is a result in f32,
layout(constant_id = 4) const bool in_blocks = false;  // and one in int8 blocks

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
    for (uint begin = 0; begin < dv; begin += gl_WorkGroupSize.x * 4) {
        uint i = begin + gl_LocalInvocationIndex * 4;
        bool within = i < dv;
        vec4 result = vec4(0);
        [[unroll]] for (uint part = 0; part < parts; ++part)
            result += Vectors(partial_of(token, head, part, dv)).at[within ? 1 + i / 4 : 0] *
                      shares[part];
        result /= sum;
        if (plain)
            for (uint j = 0; j < 4; ++j)
                if (i + j < dv) to.at[i + j] = result[j];
        if (in_blocks) put_in_blocks(attention.blocks, number * dv + i, result, within);
    }
}
