// d (s + 1/2) / 4 times a point of eight elements. Planes: d, half; groups of 32 elements, 8 bytes:
// four indices of points, then 4 x 7 bits of signs and 4 bits of s.
#include "grids.glsl"

const uint block_iq2_xxs = 256;

uvec2 places_iq2_xxs(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq2_xxs(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t groups = row + plane_bytes(blocks, 2);
    uint group = block * 16 + (part >> 2) * 2, octet = part & 3u;
    uint indices = Words(groups).at[group], signs = Words(groups).at[group + 1];
    float scale = half_at(row, block) * (0.5 + (signs >> 28)) * 0.25;
    octet_iq2(scale, (indices >> octet * 8) & 255u, even_signs((signs >> octet * 7) & 127u), a, b);
}
