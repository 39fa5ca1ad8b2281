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

#endif
