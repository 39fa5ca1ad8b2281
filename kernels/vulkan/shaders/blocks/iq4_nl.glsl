// d L[q], with uneven levels L. Planes as in Q4_0.
#include "nonlinear.glsl"

const uint block_iq4_nl = 32;

uvec2 places_iq4_nl(uint part) { return uvec2(part * 4, part * 4 + 16); }

void decode_iq4_nl(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uint codes = Words(row + plane_bytes(blocks, 2)).at[block * 4 + part];
    a = d * nonlinear_levels(codes & 0x0f0f0f0fu);
    b = d * nonlinear_levels((codes >> 4) & 0x0f0f0f0fu);
}

const uint scaled_iq4_nl = 32;
const bool shifted_iq4_nl = false;

void codes_iq4_nl(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 2)).at[block];
    a = nonlinear_bytes(codes & 0x0f0f0f0fu);
    b = nonlinear_bytes((codes >> 4) & 0x0f0f0f0fu);
}

RunScales scales_iq4_nl(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(half_at(row, block)), vec2(0));
}
