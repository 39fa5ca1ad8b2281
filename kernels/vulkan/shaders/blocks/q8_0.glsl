// d q. Planes: d, half; codes, 32 signed bytes.
const uint block_q8_0 = 32;

uvec2 places_q8_0(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_q8_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uvec2 codes = Pairs(row + plane_bytes(blocks, 2)).at[block * 4 + part];
    a = d * signed_bytes_of(codes.x);
    b = d * signed_bytes_of(codes.y);
}

const uint scaled_q8_0 = 32;
const bool shifted_q8_0 = false;

void codes_q8_0(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    Quads codes = Quads(row + plane_bytes(blocks, 2));
    a = codes.at[block * 2];
    b = codes.at[block * 2 + 1];
}

RunScales scales_q8_0(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(half_at(row, block)), vec2(0));
}
