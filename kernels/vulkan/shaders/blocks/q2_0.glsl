// d (q - 1). Planes: d, half; codes, 16 bytes: neighbours share a byte.
const uint block_q2_0 = 64;

uvec2 places_q2_0(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_q2_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uint codes = short_at(row + plane_bytes(blocks, 2), block * 8 + part);
    a = d * (vec4((uvec4(codes) >> uvec4(0, 2, 4, 6)) & 3u) - 1);
    b = d * (vec4((uvec4(codes) >> uvec4(8, 10, 12, 14)) & 3u) - 1);
}
