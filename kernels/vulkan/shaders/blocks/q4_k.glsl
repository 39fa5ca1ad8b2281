// d s q - dmin m, with a 6-bit s and m for each 32 elements. Planes: d, dmin and scales, 16 bytes;
// codes, 128 bytes: of each 32 bytes the low halves are 32 elements, the high ones the next.
#include "k_scales.glsl"

const uint block_q4_k = 256;

uvec2 places_q4_k(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

void decode_q4_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    KScales k = k_scales(Quads(row).at[block], part >> 3);
    uint codes = Words(row + plane_bytes(blocks, 16)).at[block * 32 + part];
    a = k.scales.x * bytes_of(codes & 0x0f0f0f0fu) - k.minimums.x;
    b = k.scales.y * bytes_of((codes >> 4) & 0x0f0f0f0fu) - k.minimums.y;
}

const uint scaled_q4_k = 32;
const bool shifted_q4_k = true;

void codes_q4_k(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 16)).at[block * 8 + quad];
    a = codes & 0x0f0f0f0fu;
    b = (codes >> 4) & 0x0f0f0f0fu;
}

RunScales scales_q4_k(uint64_t row, uint blocks, uint block, uint quad) {
    KScales k = k_scales(Quads(row).at[block], quad >> 1);
    return RunScales(k.scales, -k.minimums);
}
