// d s q - dmin m, with a 4-bit s and m for each 16 elements. Planes: s and m, the low and high
// halves of 16 bytes; codes, 64 bytes: of each 32 bytes the lowest two bits are 32 elements, the
// next two the next, and so on; d and dmin, halves of a word.
const uint block_q2_k = 256;

uvec2 places_q2_k(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

void decode_q2_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t plane = row + plane_bytes(blocks, 16);
    vec2 d = unpackHalf2x16(Words(plane + plane_bytes(blocks, 64)).at[block]);
    uint groups = Words(row).at[block * 4 + (part >> 3)] >> (part & 4u) * 2;
    uint codes = Words(plane).at[block * 16 + (part >> 4) * 8 + (part & 7u)] >> (part & 8u) / 2;
    vec2 scales = d.x * vec2(groups & 15u, (groups >> 16) & 15u);
    vec2 minimums = d.y * vec2((groups >> 4) & 15u, (groups >> 20) & 15u);
    a = scales.x * bytes_of(codes & 0x03030303u) - minimums.x;
    b = scales.y * bytes_of((codes >> 2) & 0x03030303u) - minimums.y;
}

const uint scaled_q2_k = 16;
const bool shifted_q2_k = true;

void codes_q2_k(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uint64_t plane = row + plane_bytes(blocks, 16);
    uint first = block * 4 + (quad >> 2) * 2 + (quad & 1u);
    uvec4 codes = Quads(plane).at[first] >> (quad & 2u) * 2;
    a = codes & 0x03030303u;
    b = (codes >> 2) & 0x03030303u;
}

RunScales scales_q2_k(uint64_t row, uint blocks, uint block, uint quad) {
    uint64_t plane = row + plane_bytes(blocks, 16);
    vec2 d = unpackHalf2x16(Words(plane + plane_bytes(blocks, 64)).at[block]);
    uint groups = Words(row).at[block * 4 + (quad >> 1)] >> (quad & 1u) * 8;
    return RunScales(d.x * vec2(groups & 15u, (groups >> 16) & 15u),
                     -d.y * vec2((groups >> 4) & 15u, (groups >> 20) & 15u));
}
