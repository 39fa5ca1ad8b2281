// d (2 s + 1) times a point of eight elements, shifted. Planes: d, half; low bytes of indices, 32
// bytes; for 32 elements each 16 bits: 4 x 3 high bits of indices, 3 bits of s, the way of the
// shift.
#include "grids.glsl"

const uint block_iq1_s = 256;

uvec2 places_iq1_s(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq1_s(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t indices = row + plane_bytes(blocks, 2), groups = indices + plane_bytes(blocks, 32);
    uint group = short_at(groups, block * 8 + (part >> 2));
    uint top = (group >> (part & 3u) * 3) & 7u, s = (group >> 12) & 7u;
    octet_iq1(half_at(row, block) * (2 * s + 1), byte_at(indices, block * 32 + part) | top << 8,
              (group >> 15) != 0, a, b);
}
