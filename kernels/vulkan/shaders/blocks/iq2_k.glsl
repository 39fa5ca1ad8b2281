// d (s - 8) level(q), the level 5 more where it is shifted; s and shift for 16 elements. Planes: d,
// half, with 16 bits of shifts; s, 16 times 4 bits; q, 256 times 2 bits by 32.
#include "levels.glsl"

const uint block_iq2_k = 256;

uvec2 places_iq2_k(uint part) { return places_by_32(part); }

void decode_iq2_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + plane_bytes(blocks, 4), codes = scales + plane_bytes(blocks, 8);
    uint head = Words(row).at[block], group = group16_by_32(part);
    float d = unpackHalf2x16(head).x;
    uint s = Words(scales).at[block * 2 + (group >> 3)] >> (group & 7u) * 4;
    uint shifts = head >> 16 >> group, q = by_32_bits2(codes, block, part);
    a = d * (float(s & 15u) - 8) * (levels2_of(q & 0x03030303u) + 5 * (shifts & 1u));
    b = d * (float((s >> 8) & 15u) - 8) *
        (levels2_of((q >> 2) & 0x03030303u) + 5 * ((shifts >> 2) & 1u));
}
