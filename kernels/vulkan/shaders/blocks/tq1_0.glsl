// d (q - 1). Planes: codes, 52 bytes: of 32 bytes the first digits of base 3 are 32 elements, the
// second ones the next, and so on for five digits; then five digits of 16 bytes, and four of 4; d,
// half.
const uint block_tq1_0 = 256;

uvec2 places_tq1_0(uint part) { return uvec2(part * 8, part * 8 + 4); }

// A byte is a fraction of base 3; a power of 3 moves one of its digits to the front. Of the four
// bytes of a word, the first and the third.
uint digits_tq1_0(uint bytes, uint power) {
    uint rest = ((bytes & 0x00ff00ffu) * power) & 0x00ff00ffu;
    return ((rest * 3) >> 8) & 0x00030003u;
}

// One of the 64 runs of four elements.
vec4 run_tq1_0(uint64_t codes, uint block, uint run) {
    uvec2 place = uvec2(run & 7u, run >> 3);  // a word and one of its digits
    if (run >= 40) place = uvec2(8 + (run & 3u), (run - 40) >> 2);
    if (run >= 60) place = uvec2(12, run - 60);
    uint power = place.y < 4 ? (0x1b090301u >> place.y * 8) & 255u : 81;
    uint bytes = Words(codes).at[block * 13 + place.x];
    return bytes_of(digits_tq1_0(bytes, power) | digits_tq1_0(bytes >> 8, power) << 8) - 1;
}

void decode_tq1_0(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row + plane_bytes(blocks, 52), block);
    a = d * run_tq1_0(row, block, part * 2);
    b = d * run_tq1_0(row, block, part * 2 + 1);
}
