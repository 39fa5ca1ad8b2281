// d s level(q), the level 1 more where it is shifted; s and shift for 16 elements. Planes: d, half,
// with 16 bits of shifts; s, 16 signed bytes; low bits of q, 256 times 4 bits by 32; high bits, 256
// times 2 bits by 32.
#include "levels.glsl"

const uint block_iq6_k = 256;

uvec2 places_iq6_k(uint part) { return places_by_32(part); }

vec4 levels_iq6_k(uint codes) {
    vec4 c = bytes_of(codes);
    return c * (c * (c * 0.0011972 - 0.11218) + 6.2568) - 127;
}

void decode_iq6_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + plane_bytes(blocks, 4), low = scales + plane_bytes(blocks, 16);
    uint64_t high = low + plane_bytes(blocks, 128);
    uint head = Words(row).at[block], group = group16_by_32(part);
    float d = unpackHalf2x16(head).x;
    uint q = Words(low).at[block * 32 + part], h = by_32_bits2(high, block, part);
    uint first = (q & 0x0f0f0f0fu) | (h & 0x03030303u) << 4;
    uint second = ((q >> 4) & 0x0f0f0f0fu) | (h & 0x0c0c0c0cu) << 2;
    vec4 s = signed_bytes_of(Words(scales).at[block * 4 + (part >> 3)] >> (group & 1u) * 8);
    uint shifts = head >> 16 >> group;
    a = d * s.x * (levels_iq6_k(first) + (shifts & 1u));
    b = d * s.z * (levels_iq6_k(second) + ((shifts >> 2) & 1u));
}
