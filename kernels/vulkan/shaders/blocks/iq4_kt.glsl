// r (s - 64) times the numbers of a code of 15 bits, four numbers each; s and a bit of the seed for
// 32 elements, r for the row. Planes: r, float; for 32 elements each a word of bit 15 of the seed,
// 7 bits of s and 8 x 3 top bits of codes; low bytes of codes, 64 bytes; the 4 bits between, 32
// bytes: the low halves belong to the first 32 codes.
#include "trellis.glsl"

const uint block_iq4_kt = 256;

uvec2 places_iq4_kt(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq4_kt(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t groups = row + 16, low = groups + plane_bytes(blocks, 32);
    uint64_t middle = low + plane_bytes(blocks, 64);
    uint group = Words(groups).at[block * 8 + (part >> 2)], top = group >> (8 + (part & 3u) * 6);
    uint codes = short_at(low, block * 32 + part);
    uint between = short_at(middle, block * 16 + (part & 15u)) >> (part >> 4) * 4;
    uint seed = 4096 + ((group & 1u) << 15);
    float scale = Floats(row).at[0] * (float((group >> 1) & 127u) - 64);
    a = scale * trellis4(((codes & 255u) | (between & 15u) << 8 | (top & 7u) << 12) + seed);
    b = scale * trellis4((codes >> 8 | (between & 0xf00u) | (top & 0x38u) << 9) + seed);
}
