// d (s + 1/2) / 2 times points of four elements. Planes: d, half; indices of points, 64 bytes; for
// 32 elements each a word of 4 x 7 bits of signs and 4 bits of s.
#include "grids.glsl"

const uint block_iq3_xxs = 256;

uvec2 places_iq3_xxs(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq3_xxs(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t points = row + plane_bytes(blocks, 2), signs = points + plane_bytes(blocks, 64);
    uint indices = short_at(points, block * 32 + part);
    uint group = Words(signs).at[block * 8 + (part >> 2)];
    float scale = half_at(row, block) * (0.5 + (group >> 28)) * 0.5;
    uint seven = (group >> (part & 3u) * 7) & 127u;
    quads_iq3(scale, indices & 255u, indices >> 8, even_signs(seven), a, b);
}
