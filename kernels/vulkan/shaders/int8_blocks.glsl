// Activations rounded to int8 codes in blocks of 32, which have a scale each. Of 128 elements, in
// the order of the axes, first come the heads of four blocks: the scale, and the sums of the first
// 16 codes and of the others, 16 bits each; then the codes.
#ifndef INT8_BLOCKS_GLSL
#define INT8_BLOCKS_GLSL
#include "memory.glsl"

uint64_t heads_of(uint64_t x, uint element) { return x + uint64_t(element / 128) * 160; }
uint64_t codes_of(uint64_t x, uint element) { return heads_of(x, element) + 32; }

// 16 codes; `element` is the first one's number, a multiple of 16.
uvec4 codes_at(uint64_t x, uint element) {
    return Quads(codes_of(x, element)).at[element % 128 / 16];
}

// Of the same: the scale, and the sum of what the codes stand for.
vec2 head_at(uint64_t x, uint element) {
    uvec2 head = Pairs(heads_of(x, element)).at[element % 128 / 32];
    float scale = uintBitsToFloat(head.x);
    return vec2(scale, scale * bitfieldExtract(int(head.y), int(element & 16u), 16));
}

#endif
