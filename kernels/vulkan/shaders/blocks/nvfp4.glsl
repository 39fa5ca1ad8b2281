// s F[q], with the doubled values F of 4-bit floating point numbers and an s of 8 bits for each 16
// elements. Planes: the four s, a word; codes, 32 bytes: of each 8 bytes the low halves are 8
// elements, the high ones the next.
#include "fp4.glsl"

const uint block_nvfp4 = 64;

uvec2 places_nvfp4(uint part) {
    uint first = (part >> 1) * 16 + (part & 1u) * 4;
    return uvec2(first, first + 8);
}

// Half of an unsigned number of 4 bits of exponent and 3 of fraction; the pattern of NaN is zero.
float scale_nvfp4(uint bits) {
    if (bits == 0x7f) return 0;
    uint magnitude = bits & 127u;
    return magnitude < 8 ? magnitude / 1024.0 : uintBitsToFloat((magnitude << 20) + (119u << 23));
}

void decode_nvfp4(uint64_t row, uint blocks, uint block, uint part, out vec4 a, out vec4 b) {
    float scale = scale_nvfp4((Words(row).at[block] >> (part >> 1) * 8) & 255u);
    uint codes = Words(row + plane_bytes(blocks, 4)).at[block * 8 + part];
    a = scale * fp4_values(codes & 0x0f0f0f0fu);
    b = scale * fp4_values((codes >> 4) & 0x0f0f0f0fu);
}
