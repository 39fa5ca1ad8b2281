// d (2 s + 1) times a point of eight elements, shifted; s for two points. Planes: low bytes of
// indices, 32 bytes; 32 times 3 high bits of an index and the way of the shift; four times 4 x 3
// bits of s and 4 bits of d, a half.
#include "grids.glsl"

const uint block_iq1_m = 256;

uvec2 places_iq1_m(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq1_m(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t high = row + plane_bytes(blocks, 32), scales = high + plane_bytes(blocks, 16);
    uint low = Words(scales).at[block * 2], more = Words(scales).at[block * 2 + 1];
    uint bits = ((low >> 12) & 15u) | ((low >> 24) & 0xf0u) | ((more >> 4) & 0xf00u) |
                ((more >> 16) & 0xf000u);
    uint place = ((part >> 3) & 1u) * 16 + ((part >> 1) & 3u) * 3;
    uint s = ((part < 16 ? low : more) >> place) & 7u;
    uint top = byte_at(high, block * 16 + (part >> 1)) >> (part & 1u) * 4;
    octet_iq1(unpackHalf2x16(bits).x * (2 * s + 1),
              byte_at(row, block * 32 + part) | (top & 7u) << 8, (top & 8u) != 0, a, b);
}
