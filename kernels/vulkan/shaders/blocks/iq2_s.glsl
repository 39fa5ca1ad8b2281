// d (s + 1/2) / 4 times a point of eight elements, s for two points. Planes: d, half; low bytes of
// indices, 32 bytes; signs, 32 bytes; high bits of indices, 32 times 2 bits; s, 16 times 4 bits.
#include "grids.glsl"

const uint block_iq2_s = 256;

uvec2 places_iq2_s(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq2_s(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t indices = row + plane_bytes(blocks, 2), signs = indices + plane_bytes(blocks, 32);
    uint64_t high = signs + plane_bytes(blocks, 32), scales = high + plane_bytes(blocks, 8);
    uint point = block * 32 + part, quarter = block * 8 + (part >> 2);
    uint top = (byte_at(high, quarter) >> (part & 3u) * 2) & 3u;
    uint s = (byte_at(scales, quarter) >> (part & 2u) * 2) & 15u;
    float scale = half_at(row, block) * (0.5 + s) * 0.25;
    octet_iq2(scale, byte_at(indices, point) | top << 8, byte_at(signs, point), a, b);
}
