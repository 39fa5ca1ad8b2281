// IEEE halves. One plane: the row.
const uint block_f16 = 8;

uvec2 places_f16(uint part) { return uvec2(0, 4); }

void decode_f16(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uvec4 words = Quads(row).at[block];
    a = vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
    b = vec4(unpackHalf2x16(words.z), unpackHalf2x16(words.w));
}
