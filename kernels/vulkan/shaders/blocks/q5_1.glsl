// d q + m. Planes: d and m, halves of a word; codes as in Q5_0.
#include "fifth_bits.glsl"

const uint block_q5_1 = 32;

uvec2 places_q5_1(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_q5_1(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 4);
    vec2 affine = unpackHalf2x16(Words(row).at[block]);
    uint fifth = Words(high).at[block];
    uint codes = Words(high + plane_bytes(blocks, 4)).at[block * 4 + part];
    a = affine.x * bytes_of((codes & 0x0f0f0f0fu) | fifth_bits(fifth, part * 4)) + affine.y;
    b = affine.x * bytes_of(((codes >> 4) & 0x0f0f0f0fu) | fifth_bits(fifth, part * 4 + 16)) +
        affine.y;
}

const uint scaled_q5_1 = 32;
const bool shifted_q5_1 = true;

void codes_q5_1(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t high = row + plane_bytes(blocks, 4);
    uint fifth = Words(high).at[block];
    uvec4 codes = Quads(high + plane_bytes(blocks, 4)).at[block];
    a = (codes & 0x0f0f0f0fu) | sixteen_fifth_bits(fifth, 0);
    b = ((codes >> 4) & 0x0f0f0f0fu) | sixteen_fifth_bits(fifth, 16);
}

RunScales scales_q5_1(uint64_t row, uint blocks, uint block, uint quad) {
    vec2 affine = unpackHalf2x16(Words(row).at[block]);
    return RunScales(affine.xx, affine.yy);
}
