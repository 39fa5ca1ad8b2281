// +-d (2 s + 1) level(q), the level 4 more where it is shifted; sign, s and shift for 16 elements.
// Planes: d, half, with 16 bits of shifts; signs, 16 bits; s, 16 times 4 bits; low bits of q, 256
// times 2 bits by 32; high bits, 256 bits by 32.
#include "levels.glsl"

const uint block_iq3_k = 256;

uvec2 places_iq3_k(uint part) { return places_by_32(part); }

float scale_iq3_k(uint s, uint negative) {
    float magnitude = 2 * (s & 15u) + 1;
    return (negative & 1u) != 0 ? -magnitude : magnitude;
}

void decode_iq3_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t signs = row + plane_bytes(blocks, 4), scales = signs + plane_bytes(blocks, 2);
    uint64_t low = scales + plane_bytes(blocks, 8), high = low + plane_bytes(blocks, 64);
    uint head = Words(row).at[block], group = group16_by_32(part);
    float d = unpackHalf2x16(head).x;
    uint s = Words(scales).at[block * 2 + (group >> 3)] >> (group & 7u) * 4;
    uint negative = short_at(signs, block) >> group, shifts = head >> 16 >> group;
    uint q = by_32_bits2(low, block, part), h = by_32_bits1(high, block, part);
    uint first = (q & 0x03030303u) | (h & 0x01010101u) << 2;
    uint second = ((q >> 2) & 0x03030303u) | (h & 0x02020202u) << 1;
    a = d * scale_iq3_k(s, negative) * (levels3_of(first) + 4 * (shifts & 1u));
    b = d * scale_iq3_k(s >> 8, negative >> 2) * (levels3_of(second) + 4 * ((shifts >> 2) & 1u));
}
