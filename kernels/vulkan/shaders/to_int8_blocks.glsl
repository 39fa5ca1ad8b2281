// Activations become int8 blocks: a block's largest magnitude becomes 127, and the scale of a block
// with a NaN is NaN. Eight invocations make a block, four elements each.
#include "int8_blocks.glsl"

const uint makers = 8;
shared uint magnitudes[gl_WorkGroupSize.x];
shared int sums_of_codes[gl_WorkGroupSize.x];

// The whole workgroup calls it together, in whole blocks. `element` is the number in y of the first
// of the four; those that are not `within` are not written.
void put_in_blocks(uint64_t y, uint element, vec4 values, bool within) {
    const uint self = gl_LocalInvocationIndex, begin = self / makers * makers;
    // As integers, magnitudes have the same order, and NaN is above all: it must not get lost.
    uvec4 bits = floatBitsToUint(values) & 0x7fffffffu;
    magnitudes[self] = max(max(bits.x, bits.y), max(bits.z, bits.w));
    barrier();
    uint largest = 0;
    for (uint i = 0; i < makers; ++i) largest = max(largest, magnitudes[begin + i]);
    float most = uintBitsToFloat(largest);
    // The inverse of less would not be finite.
    float inverse = most > 1e-30 ? 127 / most : 0;

    ivec4 codes = ivec4(roundEven(values * inverse));
    sums_of_codes[self] = codes.x + codes.y + codes.z + codes.w;
    barrier();
    // Callers may go on to the next barrier: nobody leaves early.
    if (within) {
        uvec4 bytes = uvec4(codes) & 255u;
        Words(codes_of(y, element)).at[element % 128 / 4] =
            bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
    }
    if (within && self == begin) {
        int low = 0, high = 0;
        for (uint i = 0; i < makers / 2; ++i) {
            low += sums_of_codes[begin + i];
            high += sums_of_codes[begin + makers / 2 + i];
        }
        Pairs(heads_of(y, element)).at[element % 128 / 32] =
            uvec2(floatBitsToUint(most / 127), (uint(low) & 0xffffu) | uint(high) << 16);
    }
}
