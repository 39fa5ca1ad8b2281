// r (s - 127) level(q), where s is even; one more than s chooses levels that are 4 more. s for 32
// elements, r for the row. Planes: r, float; for 32 elements each eight times 16 bits: their lowest
// bits are s, the others q in a Gray code, of 16 elements in the low halves of the bytes, of the
// next in the high ones.
#include "levels.glsl"

const uint block_iq4_kss = 256;

uvec2 places_iq4_kss(uint part) { return places_by_16(part); }

void decode_iq4_kss(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uvec4 group = Quads(row + 16).at[block * 8 + (part >> 2)];
    uvec4 bits = (group & 1u) | ((group >> 15) & 2u);
    uint s = bits.x | bits.y << 2 | bits.z << 4 | bits.w << 6;
    uint gray = group[part & 3u] & 0xfffefffeu, q = gray ^ (gray >> 1);
    float scale = Floats(row).at[0] * scale_of_byte(s);
    uint shift = 4 * (s & 1u);
    a = scale * (nonlinear_levels(q & 0x0f0f0f0fu) + shift);
    b = scale * (nonlinear_levels((q >> 4) & 0x0f0f0f0fu) + shift);
}
