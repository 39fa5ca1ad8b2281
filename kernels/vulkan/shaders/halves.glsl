// Numbers as operands of matrix units: eight halves, the largest that there are for larger ones.
#ifndef HALVES_GLSL
#define HALVES_GLSL

uvec4 halves_of(vec4 a, vec4 b) {
    const float most = 65504;
    a = clamp(a, -most, most);
    b = clamp(b, -most, most);
    return uvec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy), packHalf2x16(b.zw));
}

#endif
