// d s (q - 32), with a signed s for each 16 elements. Planes: low bits of the codes, 128 bytes: of
// each 64 bytes the low halves are 64 elements, the high ones the next; their two high bits, 64
// bytes: of each 32 bytes the lowest two bits are 32 elements, the next two the next, and so on;
// scales, 16 bytes; d, half.
const uint block_q6_k = 256;

uvec2 places_q6_k(uint part) {
    uint first = (part >> 4) * 128 + (part & 15u) * 4;
    return uvec2(first, first + 64);
}

void decode_q6_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 128);
    uint64_t scales = high + plane_bytes(blocks, 64);
    float d = half_at(scales + plane_bytes(blocks, 16), block);
    uint half_block = block * 2 + (part >> 4);
    uint codes = Words(row).at[block * 32 + part];
    uint top = Words(high).at[half_block * 8 + (part & 7u)] >> ((part >> 3) & 1u) * 2;
    ivec2 s = ivec2(Pairs(scales).at[half_block]) << (24 - ((part >> 2) & 3u) * 8) >> 24;
    a = d * s.x * (bytes_of((codes & 0x0f0f0f0fu) | (top & 0x03030303u) << 4) - 32);
    b = d * s.y * (bytes_of(((codes >> 4) & 0x0f0f0f0fu) | (top & 0x30303030u)) - 32);
}

const uint scaled_q6_k = 16;
const bool shifted_q6_k = false;

void codes_q6_k(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t high = row + plane_bytes(blocks, 128);
    uvec4 codes = Quads(row).at[block * 8 + quad];
    uvec4 top = Quads(high).at[block * 4 + (quad >> 2) * 2 + (quad & 1u)] >> (quad & 2u);
    a = bytes_less((codes & 0x0f0f0f0fu) | (top & 0x03030303u) << 4, 32);
    b = bytes_less(((codes >> 4) & 0x0f0f0f0fu) | (top & 0x30303030u), 32);
}

RunScales scales_q6_k(uint64_t row, uint blocks, uint block, uint quad) {
    uint64_t scales = row + plane_bytes(blocks, 128) + plane_bytes(blocks, 64);
    float d = half_at(scales + plane_bytes(blocks, 16), block);
    uvec2 words = Pairs(scales).at[block * 2 + (quad >> 2)];
    ivec2 s = ivec2(words) << (24 - (quad & 3u) * 8) >> 24;
    return RunScales(d * s, vec2(0));
}
