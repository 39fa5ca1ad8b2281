// Numbers that grow with the spans of positions before their token.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, y, x, positions;
    float beta;
    uint span;  // positions
    Walk walk;
};

void main() {
    uint number = invocation_number();
    if (number >= live_count(count) * walk.per_live) return;
    uvec3 at = places(walk, number);
    uint spans = Words(positions).at[at.z] / span;
    // The driver's logarithm of 1 need not be 0.
    float grown = spans > 0 ? 1 + beta * log(float(1 + spans)) : 1;
    Floats(y).at[at.x] = Floats(x).at[at.y] * grown;
}
