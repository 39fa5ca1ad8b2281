// Numbers of 32 bits. One plane: the row.
const uint block_f32 = 8;

uvec2 places_f32(uint part) { return uvec2(0, 4); }

void decode_f32(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    a = Vectors(row).at[block * 2];
    b = Vectors(row).at[block * 2 + 1];
}
