// Numbers as operands of matrix units: eight halves, the largest that there are for larger ones. What
// is infinite or not a number stays so, for a result that depends on it to show it.
#ifndef HALVES_GLSL
#define HALVES_GLSL

vec4 within_halves(vec4 a) {
    const float most = 65504;
    // By their bits, as a driver may take every float for a finite number: larger than the largest,
    // smaller than infinity.
    const uint past_most = 0x477fe001u, infinite = 0x7f800000u;
    uvec4 size = floatBitsToUint(a) & 0x7fffffffu;
    return mix(a, clamp(a, -most, most),
               lessThan(size - past_most, uvec4(infinite - past_most)));
}

uvec4 halves_of(vec4 a, vec4 b) {
    a = within_halves(a);
    b = within_halves(b);
    return uvec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy), packHalf2x16(b.zw));
}

#endif
