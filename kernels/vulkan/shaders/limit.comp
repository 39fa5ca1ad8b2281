// What the hardware allows: streaming reads, and multiply-adds that depend on nothing but
// registers. The results only keep the work from being left out.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(constant_id = 1) const bool reads = true;

layout(push_constant) uniform Parameters {
    uint64_t from, to;
    uint vectors;  // 16 bytes each, read in all
    uint rounds;   // of 64 multiply-adds per invocation
};

void main() {
    vec4 sums[4] = vec4[4](vec4(0), vec4(0), vec4(0), vec4(0));
    uint at = invocation_number(), invocations = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    if (reads) {
        for (uint i = at; i < vectors; i += invocations) sums[0] += Vectors(from).at[i];
    } else {
        vec4 factor = vec4(0.999, 0.998, 0.997, 0.996) + float(at) * 1e-9;
        for (uint i = 0; i < rounds; ++i)
            for (uint j = 0; j < 4; ++j)
                for (uint k = 0; k < 4; ++k) sums[k] = fma(sums[k], factor, factor);
    }
    vec4 sum = sums[0] + sums[1] + sums[2] + sums[3];
    if (sum.x + sum.y + sum.z + sum.w == 12345.678) Vectors(to).at[0] = sum;
}
