// Numbers as operands of matrix units: eight halves, the largest that there are for larger ones. What
// is not a number stays so.
#ifndef HALVES_GLSL
#define HALVES_GLSL

vec4 within_halves(vec4 a) {
    const float most = 65504;
    return mix(a, clamp(a, -most, most), greaterThan(abs(a), vec4(most)));
}

uvec4 halves_of(vec4 a, vec4 b) {
    a = within_halves(a);
    b = within_halves(b);
    return uvec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy), packHalf2x16(b.zw));
}

#endif
