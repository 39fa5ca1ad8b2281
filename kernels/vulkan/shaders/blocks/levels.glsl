// What the types IQ*_K, IQ*_KS and their kin share: codes of uneven levels, in bytes. The levels of
// 3 and 5 bits are rounded values of a polynomial, as those of 4 bits in nonlinear.glsl are, exactly
// those of gguf/quants/fork_levels.h.
#ifndef LEVELS
#define LEVELS
#include "nonlinear.glsl"

vec4 levels2_of(uint codes) {
    vec4 c = bytes_of(codes);
    return c * (c * (c - 5) + 22) - 31;
}
vec4 levels3_of(uint codes) {
    vec4 c = bytes_of(codes);
    return round(c * (c * (c * 0.36 - 4.06) + 26.5) - 62.8);
}
vec4 levels5_of(uint codes) {
    vec4 c = bytes_of(codes);
    return round(c * (c * (c * 0.00951 - 0.4373) + 12.38) - 125.8);
}

// Bits of a block are packed by 32: the first 32 elements in the lowest bits of 32 bytes, the next
// ones above them, and so on until the bytes are full. The runs of a part stand 32 elements apart.
uvec2 places_by_32(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}
// The same by 16.
uvec2 places_by_16(uint part) {
    uint first = (part >> 2) * 32 + (part & 3u) * 4;
    return uvec2(first, first + 16);
}
// The word of a part by 32, the bits of its first run lowest; right above them those of the second.
uint by_32_bits1(uint64_t plane, uint block, uint part) {
    return Words(plane).at[block * 8 + (part & 7u)] >> (part >> 3) * 2;
}
uint by_32_bits2(uint64_t plane, uint block, uint part) {
    return Words(plane).at[block * 16 + (part >> 4) * 8 + (part & 7u)] >> ((part >> 3) & 1u) * 4;
}
// The group of 16 elements where the first run stands; the second one stands two groups further.
uint group16_by_32(uint part) { return (part >> 3) * 4 + ((part >> 2) & 1u); }

// The scale of 16 elements in a head of d and shifts, 16 x 2 high bits and 16 x 4 low bits.
float scale6_of(uvec4 head, uint group) {
    uint low = (group < 8 ? head.z : head.w) >> (group & 7u) * 4;
    return float((low & 15u) | ((head.y >> group * 2) & 3u) << 4) - 32;
}

// The scale of 32 elements that is a byte, whose lowest bit chooses the levels.
float scale_of_byte(uint s) { return float(s & 254u) - 127; }

// Nibble 0 to 7 of a word that holds those of the first half below those of the second.
uint nibble_of_halves(uint word, uint i) { return (word >> ((i & 3u) * 8 + (i >> 2) * 4)) & 15u; }

#endif
