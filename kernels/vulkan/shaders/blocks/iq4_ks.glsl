// r (s - 127) level(q), where s is even; one more than s chooses levels that are 4 more. s for 32
// elements, r for the row. Planes: r, float; s, 8 bytes; q, 128 bytes: of each 16 bytes the low
// halves are 16 elements, the high ones the next.
#include "levels.glsl"

const uint block_iq4_ks = 256;

uvec2 places_iq4_ks(uint part) { return places_by_16(part); }

void decode_iq4_ks(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 16, codes = scales + plane_bytes(blocks, 8);
    uint s = byte_at(scales, block * 8 + (part >> 2)), q = Words(codes).at[block * 32 + part];
    float scale = Floats(row).at[0] * scale_of_byte(s);
    uint shift = 4 * (s & 1u);
    a = scale * (nonlinear_levels(q & 0x0f0f0f0fu) + shift);
    b = scale * (nonlinear_levels((q >> 4) & 0x0f0f0f0fu) + shift);
}
