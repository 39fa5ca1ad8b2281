// The 4-bit floating point numbers of MXFP4 and NVFP4, doubled, so that they are whole.
#ifndef FP4
#define FP4

// The values of the codes in four bytes: a sign and the magnitudes 0, 1, 2, 3, 4, 6, 8, 12. All
// four are found at once, 12 more than they are: what is never negative does not borrow from the
// next byte.
vec4 fp4_values(uint codes) {
    uint low = codes & 0x03030303u, upper = (codes >> 2) & 0x01010101u;
    uint both = low & (low >> 1);  // 5, 6 and 7 stand for 1, 2 and 5 more
    uint magnitudes = (codes & 0x07070707u) + ((low + both * 2) & upper * 7);
    uint negative = ((codes >> 3) & 0x01010101u) * 15;
    return bytes_of(magnitudes + 0x0c0c0c0cu - ((magnitudes & negative) << 1)) - 12;
}

#endif
