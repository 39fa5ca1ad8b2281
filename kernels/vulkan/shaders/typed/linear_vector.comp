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
    const uint last = blocks * parts - 1;
    for (uint first = gl_SubgroupInvocationID; first <= last;
         first += items_at_once * gl_SubgroupSize) {
        vec4 a[items_at_once * products], b[items_at_once * products];
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = min(first + i * gl_SubgroupSize, last);
            [[unroll]] for (uint r = 0; r < products; ++r)
                decode(from[r], blocks, item / parts, item % parts, a[i * products + r],
                       b[i * products + r]);
        }
        [[unroll]] for (uint i = 0; i < items_at_once; ++i) {
            uint item = first + i * gl_SubgroupSize;
            uvec2 at = min(item, last) / parts * block_elements + places_of(min(item, last) % parts);
            // Past the end of the row there is nothing of x.
            if (item > last) at = uvec2(columns);
            [[unroll]] for (uint t = 0; t < tokens_at_once; ++t) {
                uint64_t token = x + uint64_t(token_at[t]) * 4;
                vec4 xa = four_of(token, at.x, columns, aligned);
                vec4 xb = four_of(token, at.y, columns, aligned);
                [[unroll]] for (uint r = 0; r < products; ++r)
                    sums[r * tokens_at_once + t] +=
                        dot(a[i * products + r], xa) + dot(b[i * products + r], xb);
            }
        }
    }
}

void main() { put_results(); }
