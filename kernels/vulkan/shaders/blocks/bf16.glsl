// Upper halves of 32-bit numbers. One plane: the row.
const uint block_bf16 = 8;

uvec2 places_bf16(uint part) { return uvec2(0, 4); }

void decode_bf16(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uvec4 words = Quads(row).at[block];
    uvec4 even = words << 16, odd = words & 0xffff0000u;
    a = uintBitsToFloat(uvec4(even.x, odd.x, even.y, odd.y));
    b = uintBitsToFloat(uvec4(even.z, odd.z, even.w, odd.w));
}
