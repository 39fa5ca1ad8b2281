// d (s - 32) (q - 4), with a 6-bit s for each 16 elements. Planes: the high bits of the codes, 32
// bytes: bit j of them is group j of 32 elements; their other bits, 64 bytes, as in Q2_K; s, 12
// bytes: of 8 bytes the low halves are low bits of the first 8 s, the high ones of the others; of
// 4 bytes the lowest two bits are high bits of the first 4 s, the next two those of the next; d,
// half.
const uint block_q3_k = 256;

uvec2 places_q3_k(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

// The scales of elements 0 to 15 and 32 to 47 of a quarter of the block, or of the 16 behind each.
vec2 pair_of_scales(uint64_t scales, uint block, uint quarter, uint behind) {
    uint low = Words(scales).at[block * 3 + (quarter & 1u)] >> (quarter & 2u) * 2;
    uint high = Words(scales).at[block * 3 + 2] >> quarter * 2;
    uint codes = ((low & 0x0f0f0f0fu) | (high & 0x03030303u) << 4) >> behind * 8;
    return vec2(codes & 255u, (codes >> 16) & 255u) - 32;
}

void decode_q3_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t plane = row + plane_bytes(blocks, 32), scales = plane + plane_bytes(blocks, 64);
    float d = half_at(scales + plane_bytes(blocks, 12), block);
    vec2 s = d * pair_of_scales(scales, block, part >> 3, (part >> 2) & 1u);
    uint high = Words(row).at[block * 8 + (part & 7u)] >> (part >> 3) * 2;
    uint codes = Words(plane).at[block * 16 + (part >> 4) * 8 + (part & 7u)] >> (part & 8u) / 2;
    uint first = (codes & 0x03030303u) | (high & 0x01010101u) << 2;
    uint second = ((codes >> 2) & 0x03030303u) | (high & 0x02020202u) << 1;
    a = s.x * (bytes_of(first) - 4);
    b = s.y * (bytes_of(second) - 4);
}

const uint scaled_q3_k = 16;
const bool shifted_q3_k = false;

void codes_q3_k(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t plane = row + plane_bytes(blocks, 32);
    uvec4 high = Quads(row).at[block * 2 + (quad & 1u)] >> (quad >> 1) * 2;
    uint first = block * 4 + (quad >> 2) * 2 + (quad & 1u);
    uvec4 codes = Quads(plane).at[first] >> (quad & 2u) * 2;
    a = bytes_less((codes & 0x03030303u) | (high & 0x01010101u) << 2, 4);
    b = bytes_less(((codes >> 2) & 0x03030303u) | (high & 0x02020202u) << 1, 4);
}

RunScales scales_q3_k(uint64_t row, uint blocks, uint block, uint quad) {
    uint64_t scales = row + plane_bytes(blocks, 32) + plane_bytes(blocks, 64);
    float d = half_at(scales + plane_bytes(blocks, 12), block);
    return RunScales(d * pair_of_scales(scales, block, quad >> 1, quad & 1u), vec2(0));
}
