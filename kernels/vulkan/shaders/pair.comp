// Two numbers to one: sums, products, gated units.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint kind = 0;

layout(push_constant) uniform Parameters {
    uint64_t count, y, a, b;
    Walk walk;
};

float combined(float x, float z) {
    switch (kind) {
        case 0:
            return x + z;
        case 1:
            return x * z;
        default:
            return gated_unit(kind - 2, x, z);
    }
}

void main() {
    uint number = invocation_number();
    if (number >= live_count(count) * walk.per_live) return;
    uvec3 at = places(walk, number);
    Floats(y).at[at.x] = combined(Floats(a).at[at.y], Floats(b).at[at.z]);
}
