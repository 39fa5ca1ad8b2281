// d (s - 32) level(q), the level 2 more where it is shifted; s and shift for 16 elements. Planes:
// d, half, with 16 bits of shifts, 16 x 2 high bits of s and 16 x 4 low bits; low bits of q, 256
// times 4 bits by 32; fifth bits, 256 bits by 32.
#include "levels.glsl"

const uint block_iq5_k = 256;

uvec2 places_iq5_k(uint part) { return places_by_32(part); }

void decode_iq5_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t low = row + plane_bytes(blocks, 16), high = low + plane_bytes(blocks, 128);
    uvec4 head = Quads(row).at[block];
    uint q = Words(low).at[block * 32 + part], h = by_32_bits1(high, block, part);
    uint first = (q & 0x0f0f0f0fu) | (h & 0x01010101u) << 4;
    uint second = ((q >> 4) & 0x0f0f0f0fu) | (h & 0x02020202u) << 3;
    uint group = group16_by_32(part), shifts = head.x >> 16 >> group;
    float d = unpackHalf2x16(head.x).x;
    a = d * scale6_of(head, group) * (levels5_of(first) + 2 * (shifts & 1u));
    b = d * scale6_of(head, group + 2) * (levels5_of(second) + 2 * ((shifts >> 2) & 1u));
}
