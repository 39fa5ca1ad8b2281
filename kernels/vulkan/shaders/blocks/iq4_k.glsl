// d (s - 32) level(q), the level 4 more where it is shifted; s and shift for 16 elements. Planes:
// d, half, with 16 bits of shifts, 16 x 2 high bits of s and 16 x 4 low bits; q, 128 bytes: of each
// 16 bytes the low halves are 16 elements, the high ones the next.
#include "levels.glsl"

const uint block_iq4_k = 256;

uvec2 places_iq4_k(uint part) { return places_by_16(part); }

void decode_iq4_k(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uvec4 head = Quads(row).at[block];
    uint q = Words(row + plane_bytes(blocks, 16)).at[block * 32 + part];
    uint group = (part >> 2) * 2, shifts = head.x >> 16 >> group;
    float d = unpackHalf2x16(head.x).x;
    a = d * scale6_of(head, group) * (nonlinear_levels(q & 0x0f0f0f0fu) + 4 * (shifts & 1u));
    b = d * scale6_of(head, group + 1) *
        (nonlinear_levels((q >> 4) & 0x0f0f0f0fu) + 4 * ((shifts >> 1) & 1u));
}
