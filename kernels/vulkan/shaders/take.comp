// The elements of rows that the ids name.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, y, ids, x;
    Walk walk;
};

void main() {
    uint number = invocation_number();
    if (number >= live_count(count) * walk.per_live) return;
    uvec3 at = places(walk, number);
    Floats(y).at[at.x] = Floats(x).at[at.z + Words(ids).at[at.y]];
}
