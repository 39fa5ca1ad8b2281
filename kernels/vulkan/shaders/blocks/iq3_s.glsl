// d (2 s + 1) times points of four elements, s for 32 elements. Planes: d, half; low bytes of
// indices, 64 bytes; their ninth bits, 64; signs, 32 bytes; s, 8 times 4 bits.
#include "grids.glsl"

const uint block_iq3_s = 256;

uvec2 places_iq3_s(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq3_s(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t points = row + plane_bytes(blocks, 2), high = points + plane_bytes(blocks, 64);
    uint64_t signs = high + plane_bytes(blocks, 8), scales = signs + plane_bytes(blocks, 32);
    uint indices = short_at(points, block * 32 + part);
    uint top = byte_at(high, block * 8 + (part >> 2)) >> (part & 3u) * 2;
    uint s = (Words(scales).at[block] >> (part >> 2) * 4) & 15u;
    uint first = (indices & 255u) | (top & 1u) << 8, second = indices >> 8 | (top & 2u) << 7;
    quads_iq3(half_at(row, block) * (2 * s + 1), first, second,
              byte_at(signs, block * 32 + part), a, b);
}
