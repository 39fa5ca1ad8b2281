// r (s - 16) level(q), the level 4 more where it is shifted; s and shift for 32 elements, r for the
// row. Planes: r, half; 8 fifth bits of s, 8 bits of shifts; low bits of s, 4 bytes: the low halves
// are the first four; low bits of q, 256 times 2 bits by 32; high bits, 256 bits by 32.
#include "levels.glsl"

const uint block_iq3_ks = 256;

uvec2 places_iq3_ks(uint part) { return places_by_32(part); }

void decode_iq3_ks(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t extra = row + 16, scales = extra + plane_bytes(blocks, 2);
    uint64_t low = scales + plane_bytes(blocks, 4), high = low + plane_bytes(blocks, 64);
    float r = half_at(row, 0);
    uint group = (part >> 3) * 2, bits = short_at(extra, block) >> group;
    uint s = Words(scales).at[block];
    float one = float(nibble_of_halves(s, group) | (bits & 1u) << 4) - 16;
    float other = float(nibble_of_halves(s, group + 1) | (bits & 2u) << 3) - 16;
    uint q = by_32_bits2(low, block, part), h = by_32_bits1(high, block, part);
    uint first = (q & 0x03030303u) | (h & 0x01010101u) << 2;
    uint second = ((q >> 2) & 0x03030303u) | (h & 0x02020202u) << 1;
    a = r * one * (levels3_of(first) + 4 * ((bits >> 8) & 1u));
    b = r * other * (levels3_of(second) + 4 * ((bits >> 9) & 1u));
}
