// +-r s times the magnitudes of the numbers of a code of 16 bits; s for 32 elements, r for the row.
// Planes: r, float; s, 4 bytes: the low halves are the first four; codes, 64 bytes; signs, 256 bits
// by 32.
#include "levels.glsl"
#include "trellis.glsl"

const uint block_iq3_kt = 256;

uvec2 places_iq3_kt(uint part) { return uvec2(part * 8, part * 8 + 4); }

void decode_iq3_kt(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t scales = row + 16, codes = scales + plane_bytes(blocks, 4);
    uint64_t signs = codes + plane_bytes(blocks, 64);
    uint group = part >> 2, first = block * 8 + (part & 3u) * 2;
    uint s = nibble_of_halves(Words(scales).at[block], group);
    uint low = (Words(signs).at[first] >> group) & 0x01010101u;
    uint high = (Words(signs).at[first + 1] >> group) & 0x01010101u;
    float scale = Floats(row).at[0] * s;
    trellis8(short_at(codes, block * 32 + part), a, b);
    a = scale * abs(a) * (1 - 2 * bytes_of(low));
    b = scale * abs(b) * (1 - 2 * bytes_of(high));
}
