// Puts together what the parts of a cache gave for a head of a token.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "attend.glsl"

layout(constant_id = 1) const uint dv = 64;

void main() {
    uint number = group_number(), heads = attention.kv_heads * attention.q_per_kv;
    uint token = number / heads, head = number % heads;
    if (token >= live_count(attention.count)) return;
    float most = nothing, sum = 0;
    for (uint part = 0; part < attention.parts; ++part)
        most = max(most, Floats(partial_of(token, head, part, dv)).at[0]);
    if (attention.sinks != 0) {
        float sink = Floats(attention.sinks).at[head];
        most = max(most, sink);
        sum = exp(sink - most);
    }
    for (uint part = 0; part < attention.parts; ++part) {
        Floats from = Floats(partial_of(token, head, part, dv));
        sum += from.at[1] * exp(from.at[0] - most);
    }
    uint at = token * attention.y.token + head / attention.q_per_kv * attention.y.kv_head +
              head % attention.q_per_kv * attention.y.query;
    Floats to = Floats(attention.y.at + uint64_t(at) * 4);
    for (uint i = gl_LocalInvocationIndex; i < dv; i += gl_WorkGroupSize.x) {
        float result = 0;
        for (uint part = 0; part < attention.parts; ++part) {
            Floats from = Floats(partial_of(token, head, part, dv));
            result += from.at[4 + i] * exp(from.at[0] - most);
        }
        to.at[i] = result / sum;
    }
}
