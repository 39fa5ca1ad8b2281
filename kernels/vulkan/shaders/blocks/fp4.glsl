// The 4-bit floating point numbers of MXFP4 and NVFP4, doubled, so that they are whole.
#ifndef FP4
#define FP4

// The values of the codes in the bytes of words: a sign and the magnitudes 0, 1, 2, 3, 4, 6, 8, 12.
// All are found at once, 12 more than they are: what is never negative does not borrow from the next
// byte.
uvec4 fp4_values_and_12(uvec4 codes) {
    uvec4 low = codes & 0x03030303u, upper = (codes >> 2) & 0x01010101u;
    uvec4 both = low & (low >> 1);  // 5, 6 and 7 stand for 1, 2 and 5 more
    uvec4 magnitudes = (codes & 0x07070707u) + ((low + both * 2) & upper * 7);
    uvec4 negative = ((codes >> 3) & 0x01010101u) * 15;
    return magnitudes + 0x0c0c0c0cu - ((magnitudes & negative) << 1);
}

vec4 fp4_values(uint codes) { return bytes_of(fp4_values_and_12(uvec4(codes)).x) - 12; }
uvec4 fp4_bytes(uvec4 codes) { return bytes_less(fp4_values_and_12(codes), 12); }

#endif
