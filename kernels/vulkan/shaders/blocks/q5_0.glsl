// d (q - 16). Planes: d, half; the fifth bits of the codes, a word; their other bits, 16 bytes, as
// in Q4_0.
#include "fifth_bits.glsl"

const uint block_q5_0 = 32;

uvec2 places_q5_0(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_q5_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 2);
    float d = half_at(row, block);
    uint fifth = Words(high).at[block];
    uint codes = Words(high + plane_bytes(blocks, 4)).at[block * 4 + part];
    a = d * (bytes_of((codes & 0x0f0f0f0fu) | fifth_bits(fifth, part * 4)) - 16);
    b = d * (bytes_of(((codes >> 4) & 0x0f0f0f0fu) | fifth_bits(fifth, part * 4 + 16)) - 16);
}

const uint scaled_q5_0 = 32;
const bool shifted_q5_0 = false;

void codes_q5_0(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t high = row + plane_bytes(blocks, 2);
    uint fifth = Words(high).at[block];
    uvec4 codes = Quads(high + plane_bytes(blocks, 4)).at[block];
    a = bytes_less((codes & 0x0f0f0f0fu) | sixteen_fifth_bits(fifth, 0), 16);
    b = bytes_less(((codes >> 4) & 0x0f0f0f0fu) | sixteen_fifth_bits(fifth, 16), 16);
}

RunScales scales_q5_0(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(half_at(row, block)), vec2(0));
}
