// An activation of any strides to int8 blocks: a block's largest magnitude becomes 127, and the
// scale of a block with a NaN is NaN. Eight invocations make a block.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "walk.glsl"
#include "int8_blocks.glsl"

layout(constant_id = 1) const bool aligned = false;  // four neighbours can be read at once

layout(push_constant) uniform Parameters {
    uint64_t count, y, x;
    Walk walk;
};

const uint invocations = 128, lanes = 8;
shared uint magnitudes[invocations];
shared int sums[invocations];

uint64_t address_of(uint number) { return x + uint64_t(places(walk, number).y) * 4; }

vec4 four_from(uint first, uint length) {
    if (aligned) return first < length ? Vectors(address_of(first)).at[0] : vec4(0);
    vec4 values = vec4(0);
    for (uint i = 0; i < 4; ++i)
        if (first + i < length) values[i] = Floats(address_of(first + i)).at[0];
    return values;
}

void main() {
    const uint self = gl_LocalInvocationIndex, begin = self / lanes * lanes;
    uint first = invocation_number() * 4, length = live_count(count) * walk.per_live;
    vec4 values = four_from(first, length);

    // As integers, magnitudes have the same order, and NaN is above all: it must not get lost.
    uvec4 bits = floatBitsToUint(values) & 0x7fffffffu;
    magnitudes[self] = max(max(bits.x, bits.y), max(bits.z, bits.w));
    barrier();
    uint largest = 0;
    for (uint i = 0; i < lanes; ++i) largest = max(largest, magnitudes[begin + i]);
    float most = uintBitsToFloat(largest);
    // The inverse of less would not be finite.
    float inverse = most > 1e-30 ? 127 / most : 0;

    ivec4 codes = ivec4(roundEven(values * inverse));
    sums[self] = codes.x + codes.y + codes.z + codes.w;
    barrier();
    if (first >= length) return;
    uvec4 bytes = uvec4(codes) & 255u;
    Words(codes_of(y, first)).at[first % 128 / 4] =
        bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
    if (self != begin) return;
    int low = sums[self] + sums[self + 1] + sums[self + 2] + sums[self + 3];
    int high = sums[self + 4] + sums[self + 5] + sums[self + 6] + sums[self + 7];
    Pairs(heads_of(y, first)).at[first % 128 / 32] =
        uvec2(floatBitsToUint(most / 127), (uint(low) & 0xffffu) | uint(high) << 16);
}
