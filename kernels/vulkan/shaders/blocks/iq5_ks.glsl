// r (s - 127) level(q), where s is even; one more than s chooses levels that are 2 more. s for 32
// elements, r for the row. Planes: r, float; s, 8 bytes; low bits of q, 256 times 4 bits by 32;
// fifth bits, 256 bits by 32.
#include "levels.glsl"

const uint block_iq5_ks = 256;

uvec2 places_iq5_ks(uint part) { return places_by_32(part); }

void decode_iq5_ks(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 16, low = scales + plane_bytes(blocks, 8);
    uint64_t high = low + plane_bytes(blocks, 128);
    float r = Floats(row).at[0];
    uint s = short_at(scales, block * 4 + (part >> 3));
    uint q = Words(low).at[block * 32 + part], h = by_32_bits1(high, block, part);
    uint first = (q & 0x0f0f0f0fu) | (h & 0x01010101u) << 4;
    uint second = ((q >> 4) & 0x0f0f0f0fu) | (h & 0x02020202u) << 3;
    a = r * scale_of_byte(s) * (levels5_of(first) + 2 * (s & 1u));
    b = r * scale_of_byte(s >> 8) * (levels5_of(second) + 2 * ((s >> 8) & 1u));
}
