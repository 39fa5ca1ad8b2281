// d (q - 8). Planes: d, half; codes, 16 bytes: elements 0 to 15 in the low halves, the others in
// the high ones.
const uint block_q4_0 = 32;

uvec2 places_q4_0(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_q4_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uint codes = Words(row + plane_bytes(blocks, 2)).at[block * 4 + part];
    a = d * (bytes_of(codes & 0x0f0f0f0fu) - 8);
    b = d * (bytes_of((codes >> 4) & 0x0f0f0f0fu) - 8);
}

const uint scaled_q4_0 = 32;
const bool shifted_q4_0 = false;

void codes_q4_0(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 2)).at[block];
    a = bytes_less(codes & 0x0f0f0f0fu, 8);
    b = bytes_less((codes >> 4) & 0x0f0f0f0fu, 8);
}

RunScales scales_q4_0(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(half_at(row, block)), vec2(0));
}
