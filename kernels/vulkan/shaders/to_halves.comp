// An activation of any strides to halves, in the order of its axes. An invocation takes eight.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"
#include "halves.glsl"

layout(constant_id = 1) const bool aligned = false;  // four neighbours can be read at once

layout(push_constant) uniform Parameters {
    uint64_t count, y, x;
    Walk walk;
};

vec4 four_from(uint first) {
    if (aligned) return Vectors(x + uint64_t(places(walk, first).y) * 4).at[0];
    vec4 values;
    for (uint i = 0; i < 4; ++i) values[i] = Floats(x).at[places(walk, first + i).y];
    return values;
}

void main() {
    uint first = invocation_number() * 8;
    if (first < live_count(count) * walk.per_live)
        Quads(y).at[first / 8] = halves_of(four_from(first), four_from(first + 4));
}
