// Q4_K and Q5_K have a 6-bit scale and minimum for each 32 elements, packed into 12 bytes behind d
// and dmin, and are read as four words.
#ifndef K_SCALES
#define K_SCALES

// What the codes of two groups are multiplied by, and what is taken off.
struct KScales {
    vec2 scales, minimums;
};

// Of groups 2 pair and 2 pair + 1. The words after the first hold the scales of the first four
// groups, their minimums, and the low halves of the others', whose high bits are above the first.
KScales k_scales(uvec4 head, uint pair) {
    vec2 d = unpackHalf2x16(head.x);
    uvec2 codes = head.yz & 0x3f3f3f3fu;
    if (pair >= 2) {
        codes = (uvec2(head.w, head.w >> 4) & 0x0f0f0f0fu) | ((head.yz >> 2) & 0x30303030u);
    }
    codes >>= (pair & 1u) * 16;
    return KScales(d.x * vec2(codes.x & 255u, (codes.x >> 8) & 255u),
                   d.y * vec2(codes.y & 255u, (codes.y >> 8) & 255u));
}

#endif
