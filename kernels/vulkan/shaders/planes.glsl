// How rows of weights and of caches lie in device memory: the blocks of a row are taken apart, so
// that each field of the format is a plane of its own, one block's after the other's, which begins
// at a multiple of 16 bytes (kernels/vulkan/planes.h). All loads are aligned words.
//
// blocks/<type>.glsl defines for its type
//     block_<type>        elements of a block
//     places_<type>(part) where two runs of four elements stand in a block; a block has block / 8
//                         parts, chosen so that what a part reads lies close together
//     decode_<type>(row, blocks, block, part, a, b)
//                         the elements of these runs: `row` is the row's address, `blocks` how many
//                         blocks it has, which tells where its planes begin
// and, where elements are scale x code + offset with codes of 8 bits at most, for integer products
//     scaled_<type>       elements that have a scale in common: 16 or 32
//     shifted_<type>      whether there are offsets
//     codes_<type>(row, blocks, block, quad, a, b)
//                         the codes as signed bytes of two runs of 16 elements: those of four
//                         neighbouring parts, in the order of the block where that has 32 elements
//     scales_<type>(row, blocks, block, quad)
//                         what they are multiplied by, and what is added
#ifndef PLANES_GLSL
#define PLANES_GLSL
#include "memory.glsl"

uint plane_bytes(uint blocks, uint bytes) { return (blocks * bytes + 15u) & ~15u; }

uint byte_at(uint64_t plane, uint index) {
    return bitfieldExtract(Words(plane).at[index >> 2], int(index & 3u) * 8, 8);
}
uint short_at(uint64_t plane, uint index) {
    return bitfieldExtract(Words(plane).at[index >> 1], int(index & 1u) * 16, 16);
}
float half_at(uint64_t plane, uint index) { return unpackHalf2x16(short_at(plane, index)).x; }

// The four bytes of a word, as unsigned and as signed numbers.
vec4 bytes_of(uint word) {
    return vec4(word & 255u, (word >> 8) & 255u, (word >> 16) & 255u, word >> 24);
}
vec4 signed_bytes_of(uint word) {
    int bits = int(word);
    return vec4(bits << 24 >> 24, bits << 16 >> 24, bits << 8 >> 24, bits >> 24);
}

// Of two runs.
struct RunScales {
    vec2 scales, offsets;
};

// The bytes of four words less n, as signed bytes.
uvec4 bytes_less(uvec4 words, uint n) { return (words + (128 - n) * 0x01010101u) ^ 0x80808080u; }

#endif
