// An activation of any strides to int8 blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"
#include "to_int8_blocks.glsl"

layout(constant_id = 1) const bool aligned = false;  // four neighbours can be read at once

layout(push_constant) uniform Parameters {
    uint64_t count, y, x;
    Walk walk;
};

uint64_t address_of(uint number) { return x + uint64_t(places(walk, number).y) * 4; }

vec4 four_from(uint first, uint length) {
    if (aligned) return first < length ? Vectors(address_of(first)).at[0] : vec4(0);
    vec4 values = vec4(0);
    for (uint i = 0; i < 4; ++i)
        if (first + i < length) values[i] = Floats(address_of(first + i)).at[0];
    return values;
}

void main() {
    uint first = invocation_number() * 4, length = live_count(count) * walk.per_live;
    put_in_blocks(y, first, four_from(first, length), first < length);
}
