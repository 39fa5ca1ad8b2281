// r (s - 16) level(q), the level 5 more where it is shifted; s and shift for 32 elements, r for the
// row. Planes: r, half; 8 bits of shifts, 8 fifth bits of s; low bits of s, 8 times 4 bits; q, 256
// times 2 bits by 32.
#include "levels.glsl"

const uint block_iq2_ks = 256;

uvec2 places_iq2_ks(uint part) { return places_by_32(part); }

void decode_iq2_ks(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t extra = row + 16, scales = extra + plane_bytes(blocks, 2);
    uint64_t codes = scales + plane_bytes(blocks, 4);
    float r = half_at(row, 0);
    uint group = (part >> 3) * 2, bits = short_at(extra, block) >> group;
    uint s = Words(scales).at[block] >> group * 4, q = by_32_bits2(codes, block, part);
    float first = float((s & 15u) | ((bits >> 8) & 1u) << 4) - 16;
    float second = float(((s >> 4) & 15u) | ((bits >> 9) & 1u) << 4) - 16;
    a = r * first * (levels2_of(q & 0x03030303u) + 5 * (bits & 1u));
    b = r * second * (levels2_of((q >> 2) & 0x03030303u) + 5 * ((bits >> 1) & 1u));
}
