// d (s - 32) L[q], with uneven levels L and a 6-bit s for each 32 elements. Planes: d, half, with
// the two high bits of the eight s and then their low ones, 8 bytes; codes, 128 bytes: of each 16
// bytes the low halves are 16 elements, the high ones the next.
#include "nonlinear.glsl"

const uint block_iq4_xs = 256;

uvec2 places_iq4_xs(uint part) {
    uint first = (part >> 2) * 32 + (part & 3u) * 4;
    return uvec2(first, first + 16);
}

// Of 32 elements.
float scale_iq4_xs(uvec2 head, uint group) {
    uint low = (head.y >> group * 4) & 15u, high = (head.x >> (16 + group * 2)) & 3u;
    return unpackHalf2x16(head.x).x * (int(low | high << 4) - 32);
}

void decode_iq4_xs(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float scale = scale_iq4_xs(Pairs(row).at[block], part >> 2);
    uint codes = Words(row + plane_bytes(blocks, 8)).at[block * 32 + part];
    a = scale * nonlinear_levels(codes & 0x0f0f0f0fu);
    b = scale * nonlinear_levels((codes >> 4) & 0x0f0f0f0fu);
}

const uint scaled_iq4_xs = 32;
const bool shifted_iq4_xs = false;

void codes_iq4_xs(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 8)).at[block * 8 + quad];
    a = nonlinear_bytes(codes & 0x0f0f0f0fu);
    b = nonlinear_bytes((codes >> 4) & 0x0f0f0f0fu);
}

RunScales scales_iq4_xs(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(scale_iq4_xs(Pairs(row).at[block], quad)), vec2(0));
}
