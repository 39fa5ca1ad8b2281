// d s q - dmin m, with a 6-bit s and m for each 32 elements. Planes: d and dmin, halves; scales, 12
// bytes; codes, 128 bytes: of each 32 bytes the low halves are 32 elements, the high ones the next.
const uint block_q4_k = 256;

uvec2 places_q4_k(uint part) {
    uint first = (part >> 3) * 64 + (part & 7u) * 4;
    return uvec2(first, first + 32);
}

// s and m of 32 elements.
vec2 scales_q4_k(uint64_t scales, uint block, uint group) {
    uint first = block * 12 + (group & 3u);
    uint low = byte_at(scales, first), middle = byte_at(scales, first + 4);
    if (group < 4) return vec2(low & 63u, middle & 63u);
    uint high = byte_at(scales, first + 8);
    return vec2((high & 15u) | (low >> 6 << 4), (high >> 4) | (middle >> 6 << 4));
}

void decode_q4_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 2 * plane_bytes(blocks, 2);
    uint64_t codes = scales + plane_bytes(blocks, 12);
    float d = half_at(row, block), least = half_at(row + plane_bytes(blocks, 2), block);
    uint group = part >> 3 << 1, word = Words(codes).at[block * 32 + part];
    vec2 first = scales_q4_k(scales, block, group), second = scales_q4_k(scales, block, group + 1);
    a = d * first.x * bytes_of(word & 0x0f0f0f0fu) - least * first.y;
    b = d * second.x * bytes_of((word >> 4) & 0x0f0f0f0fu) - least * second.y;
}
