// y = W x for a few tokens, in f32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "fours.glsl"
#include "linear_vector.glsl"

layout(constant_id = 5) const bool aligned = false;  // x can be read four numbers at a time

#include "type.glsl"

void add_up() {
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    for (uint item = gl_SubgroupInvocationID; item < blocks * parts; item += gl_SubgroupSize) {
        uint block = item / parts, part = item % parts;
        uvec2 at = block * block_elements + places_of(part);
        vec4 a[products], b[products];
        for (uint r = 0; r < products; ++r) decode(from[r], blocks, block, part, a[r], b[r]);
        for (uint t = 0; t < tokens_at_once; ++t) {
            uint64_t token = x + uint64_t(token_at[t]) * 4;
            vec4 xa = four_of(token, at.x, columns, aligned);
            vec4 xb = four_of(token, at.y, columns, aligned);
            for (uint r = 0; r < products; ++r)
                sums[r * tokens_at_once + t] += dot(a[r], xa) + dot(b[r], xb);
        }
    }
}
