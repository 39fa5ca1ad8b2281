// One number to one.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint kind = 0;

layout(push_constant) uniform Parameters {
    uint64_t count, y, x;
    float parameter;
    Walk walk;
};

float mapped(float value) {
    switch (kind) {
        case 0:
            return value;
        case 1:
            return value * parameter;
        case 2:
            return sigmoid(value);
        case 3:
            return softplus(value);
        default:
            return parameter * tanh_of(value / parameter);
    }
}

void main() {
    uint number = invocation_number();
    if (number >= live_count(count) * walk.per_live) return;
    uvec3 at = places(walk, number);
    Floats(y).at[at.x] = mapped(Floats(x).at[at.y]);
}
