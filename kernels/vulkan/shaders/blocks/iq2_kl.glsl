// r (s - 32) times a pair of levels, which a code of 5 bits chooses; s for 32 elements, r for the
// row. Planes: r, half; high bits of s, 8 times 2 bits; low bits, 4 bytes: the low halves are the
// first four; low bits of codes, 64 bytes: of each 16 bytes the low halves are 32 elements, the
// high ones the next; fifth bits, 16 bytes, each with those of 8 times 32 elements.
#include "levels.glsl"

const uint block_iq2_kl = 256;

uvec2 places_iq2_kl(uint part) { return uvec2(part * 8, part * 8 + 4); }

vec2 pair_iq2_kl(uint codes, int byte) {
    return unpackHalf2x16(Words(codebook).at[bitfieldExtract(codes, byte * 8, 8)]);
}

void decode_iq2_kl(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    uint64_t extra = row + 16, scales = extra + plane_bytes(blocks, 2);
    uint64_t low = scales + plane_bytes(blocks, 4), high = low + plane_bytes(blocks, 64);
    uint group = part >> 2, word = part & 3u;
    uint s = nibble_of_halves(Words(scales).at[block], group) |
             ((short_at(extra, block) >> group * 2) & 3u) << 4;
    uint q = Words(low).at[block * 16 + (group >> 1) * 4 + word] >> (group & 1u) * 4;
    uint h = Words(high).at[block * 4 + word] >> group;
    uint codes = (q & 0x0f0f0f0fu) | (h & 0x01010101u) << 4;
    float scale = half_at(row, 0) * (float(s) - 32);
    a = scale * vec4(pair_iq2_kl(codes, 0), pair_iq2_kl(codes, 1));
    b = scale * vec4(pair_iq2_kl(codes, 2), pair_iq2_kl(codes, 3));
}
