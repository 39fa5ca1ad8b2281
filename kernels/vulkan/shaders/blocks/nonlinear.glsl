// The 16 levels of IQ4_NL and its kin (gguf/quants/nonlinear.h).
#ifndef NONLINEAR
#define NONLINEAR

int nonlinear_level(uint code) {
    uvec2 words = code < 8 ? uvec2(0xbfad9881u, 0xf6eaddcfu) : uvec2(0x26190d01u, 0x71594535u);
    return bitfieldExtract(int((code & 4u) == 0 ? words.x : words.y), int(code & 3u) * 8, 8);
}

// The levels of the codes in four bytes: rounded values of a polynomial, exactly those above. On a
// GPU a few products cost less than a table that neighbours read at different places.
vec4 nonlinear_levels(uint codes) {
    vec4 c = bytes_of(codes);
    return round(c * (c * (c * (c * 0.00157 + 0.0317) - 1.379) + 24.2) - 126.6);
}

// The levels as signed bytes.
uint nonlinear_bytes(uint codes) {
    return (nonlinear_level(codes & 255u) & 255) | (nonlinear_level((codes >> 8) & 255u) & 255) << 8 |
           (nonlinear_level((codes >> 16) & 255u) & 255) << 16 | nonlinear_level(codes >> 24) << 24;
}
uvec4 nonlinear_bytes(uvec4 codes) {
    return uvec4(nonlinear_bytes(codes.x), nonlinear_bytes(codes.y), nonlinear_bytes(codes.z),
                 nonlinear_bytes(codes.w));
}

#endif
