// r level(s) times the numbers of a code of 16 bits; s for 32 elements, r for the row. Planes: r,
// float; s, 4 bytes: the low halves are the first four; codes, 64 bytes.
#include "levels.glsl"
#include "trellis.glsl"

const uint block_iq2_kt = 256;

uvec2 places_iq2_kt(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq2_kt(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 16, codes = scales + plane_bytes(blocks, 4);
    uint s = nibble_of_halves(Words(scales).at[block], part >> 2);
    float scale = Floats(row).at[0] * nonlinear_levels(s).x;
    trellis8(short_at(codes, block * 32 + part), a, b);
    a *= scale;
    b *= scale;
}
