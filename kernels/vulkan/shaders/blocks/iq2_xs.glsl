// d (s + 1/2) / 4 times a point of eight elements, s for two points. Planes: d, half; points, 32
// times 9 bits of index and 7 of signs; s, 16 times 4 bits.
#include "grids.glsl"

const uint block_iq2_xs = 256;

uvec2 places_iq2_xs(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq2_xs(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t points = row + plane_bytes(blocks, 2), scales = points + plane_bytes(blocks, 64);
    uint point = short_at(points, block * 32 + part);
    uint s = (byte_at(scales, block * 8 + (part >> 2)) >> (part & 2u) * 2) & 15u;
    float scale = half_at(row, block) * (0.5 + s) * 0.25;
    octet_iq2(scale, point & 511u, even_signs(point >> 9), a, b);
}
