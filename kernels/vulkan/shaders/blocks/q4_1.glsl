// d q + m. Planes: d and m, halves of a word; codes, 16 bytes, as in Q4_0.
const uint block_q4_1 = 32;

uvec2 places_q4_1(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_q4_1(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    vec2 affine = unpackHalf2x16(Words(row).at[block]);
    uint codes = Words(row + plane_bytes(blocks, 4)).at[block * 4 + part];
    a = affine.x * bytes_of(codes & 0x0f0f0f0fu) + affine.y;
    b = affine.x * bytes_of((codes >> 4) & 0x0f0f0f0fu) + affine.y;
}

const uint scaled_q4_1 = 32;
const bool shifted_q4_1 = true;

void codes_q4_1(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 4)).at[block];
    a = codes & 0x0f0f0f0fu;
    b = (codes >> 4) & 0x0f0f0f0fu;
}

RunScales scales_q4_1(uint64_t row, uint blocks, uint block, uint quad) {
    vec2 affine = unpackHalf2x16(Words(row).at[block]);
    return RunScales(affine.xx, affine.yy);
}
