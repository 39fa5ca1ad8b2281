// d s q - dmin m. Planes: d, dmin and scales, 16 bytes, as in Q4_K; the fifth bits of the codes, 32
// bytes: bit j of them is group j of 32 elements; their other bits, 128 bytes, as in Q4_K.
#include "k_scales.glsl"

const uint block_q5_k = 256;

uvec2 places_q5_k(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

void decode_q5_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 16);
    KScales k = k_scales(Quads(row).at[block], part >> 3);
    uint fifth = Words(high).at[block * 8 + (part & 7u)] >> (part >> 3) * 2;
    uint codes = Words(high + plane_bytes(blocks, 32)).at[block * 32 + part];
    uint first = (codes & 0x0f0f0f0fu) | (fifth & 0x01010101u) << 4;
    uint second = ((codes >> 4) & 0x0f0f0f0fu) | (fifth & 0x02020202u) << 3;
    a = k.scales.x * bytes_of(first) - k.minimums.x;
    b = k.scales.y * bytes_of(second) - k.minimums.y;
}

const uint scaled_q5_k = 32;
const bool shifted_q5_k = true;

void codes_q5_k(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t high = row + plane_bytes(blocks, 16);
    uvec4 fifth = Quads(high).at[block * 2 + (quad & 1u)] >> (quad >> 1) * 2;
    uvec4 codes = Quads(high + plane_bytes(blocks, 32)).at[block * 8 + quad];
    a = (codes & 0x0f0f0f0fu) | (fifth & 0x01010101u) << 4;
    b = ((codes >> 4) & 0x0f0f0f0fu) | (fifth & 0x02020202u) << 3;
}

RunScales scales_q5_k(uint64_t row, uint blocks, uint block, uint quad) {
    KScales k = k_scales(Quads(row).at[block], quad >> 1);
    return RunScales(k.scales, -k.minimums);
}
