// d (q - 1). Planes: codes, 64 bytes: of each 32 bytes the lowest two bits are 32 elements, the
// next two the next, and so on; d, half.
const uint block_tq2_0 = 256;

uvec2 places_tq2_0(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

void decode_tq2_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row + plane_bytes(blocks, 64), block);
    uint codes = Words(row).at[block * 16 + (part >> 4) * 8 + (part & 7u)] >> (part & 8u) / 2;
    a = d * (bytes_of(codes & 0x03030303u) - 1);
    b = d * (bytes_of((codes >> 2) & 0x03030303u) - 1);
}
