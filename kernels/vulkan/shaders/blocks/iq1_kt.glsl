// r level(s) times the numbers of a code of 13 bits; s for 32 elements, r for the row. Planes: r,
// float; for 32 elements each a byte of s and 4 top bits of codes; low bytes of codes, 32 bytes;
// the 4 bits between, 16 bytes: the low halves belong to the first 16 codes.
#include "levels.glsl"
#include "trellis.glsl"

const uint block_iq1_kt = 256;

uvec2 places_iq1_kt(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq1_kt(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 16, low = scales + plane_bytes(blocks, 8);
    uint64_t middle = low + plane_bytes(blocks, 32);
    uint s = byte_at(scales, block * 8 + (part >> 2)), top = (s >> (part & 3u)) & 16u;
    uint between = (byte_at(middle, block * 16 + (part & 15u)) >> (part >> 4) * 4) & 15u;
    float scale = Floats(row).at[0] * nonlinear_levels(s & 15u).x;
    trellis8(byte_at(low, block * 32 + part) | between << 8 | top << 8, a, b);
    a *= scale;
    b *= scale;
}
