// d (q - 32). Planes: d, half; the two high bits of the codes, 8 bytes: of a byte, from the lowest
// bits on, elements i, i + 16, i + 8, i + 24; their other bits, 16 bytes, as in Q4_0.
const uint block_q6_0 = 32;

uvec2 places_q6_0(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_q6_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 2);
    float d = half_at(row, block);
    uint top = Words(high).at[block * 2 + (part & 1u)] >> (part >> 1) * 4;
    uint codes = Words(high + plane_bytes(blocks, 8)).at[block * 4 + part];
    a = d * (bytes_of((codes & 0x0f0f0f0fu) | (top & 0x03030303u) << 4) - 32);
    b = d * (bytes_of(((codes >> 4) & 0x0f0f0f0fu) | (top & 0x0c0c0c0cu) << 2) - 32);
}
