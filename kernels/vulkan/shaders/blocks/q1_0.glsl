// d or -d. Planes: d, half; a bit for each element, 16 bytes.
const uint block_q1_0 = 128;

uvec2 places_q1_0(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_q1_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uint codes = byte_at(row + plane_bytes(blocks, 2), block * 16 + part);
    a = d * (vec4((uvec4(codes) >> uvec4(0, 1, 2, 3)) & 1u) * 2 - 1);
    b = d * (vec4((uvec4(codes) >> uvec4(4, 5, 6, 7)) & 1u) * 2 - 1);
}
