// What IQ1_*, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S share: elements that are points of a
// codebook (kernels/vulkan/codebooks.h), with signs or a shift of their own.
#ifndef GRIDS
#define GRIDS

// Bit k of `signs` negates element k.
vec4 with_signs(vec4 x, uint signs) {
    uvec4 bits = uvec4(signs << 31, signs << 30, signs << 29, signs << 28) & 0x80000000u;
    return uintBitsToFloat(floatBitsToUint(x) ^ bits);
}

// The eight signs of a seven bit number: the last one makes their number even.
uint even_signs(uint seven) { return seven | uint(bitCount(seven) & 1) << 7; }

// Points of eight elements +-8, 25 or 43, which the codebook has as 0, 1 and 2.
vec4 levels_iq2(uint numbers) {
    return bytes_of(0x08080808u + 17 * numbers + ((numbers >> 1) & 0x01010101u));
}
void octet_iq2(float scale, uint index, uint signs, out vec4 a, out vec4 b) {
    uint point = Words(codebook).at[index];
    a = with_signs(scale * levels_iq2(point & 0x0f0f0f0fu), signs);
    b = with_signs(scale * levels_iq2((point >> 4) & 0x0f0f0f0fu), signs >> 4);
}

// Points of four elements, one after the other.
void quads_iq3(float scale, uint first, uint second, uint signs, out vec4 a, out vec4 b) {
    a = with_signs(scale * bytes_of(Words(codebook).at[first]), signs);
    b = with_signs(scale * bytes_of(Words(codebook).at[second]), signs >> 4);
}

// Points of eight elements -1, 0 or 1, which the codebook has as 0, 1 and 2. They are an eighth
// more, or less where they go down.
void octet_iq1(float scale, uint index, bool down, out vec4 a, out vec4 b) {
    uint point = Words(codebook).at[index];
    float least = down ? -1.125 : -0.875;
    a = scale * (bytes_of(point & 0x0f0f0f0fu) + least);
    b = scale * (bytes_of((point >> 4) & 0x0f0f0f0fu) + least);
}

#endif
