// 2^(e - 128) F[q], with the doubled values F of 4-bit floating point numbers. Planes: e, a byte;
// codes, 16 bytes, as in Q4_0.
#include "fp4.glsl"

const uint block_mxfp4 = 32;

uvec2 places_mxfp4(uint part) { return uvec2(part * 4, part * 4 + 16); }

float scale_mxfp4(uint e) { return uintBitsToFloat(e < 2 ? 0x00200000u << e : (e - 1) << 23); }

void decode_mxfp4(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float scale = scale_mxfp4(byte_at(row, block));
    uint codes = Words(row + plane_bytes(blocks, 1)).at[block * 4 + part];
    a = scale * fp4_values(codes & 0x0f0f0f0fu);
    b = scale * fp4_values((codes >> 4) & 0x0f0f0f0fu);
}

const uint scaled_mxfp4 = 32;
const bool shifted_mxfp4 = false;

void codes_mxfp4(uint64_t row, uint blocks, uint block, uint quad, out uvec4 a, out uvec4 b) {
    uvec4 codes = Quads(row + plane_bytes(blocks, 1)).at[block];
    a = fp4_bytes(codes & 0x0f0f0f0fu);
    b = fp4_bytes((codes >> 4) & 0x0f0f0f0fu);
}

RunScales scales_mxfp4(uint64_t row, uint blocks, uint block, uint quad) {
    return RunScales(vec2(scale_mxfp4(byte_at(row, block))), vec2(0));
}
