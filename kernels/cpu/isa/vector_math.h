// e^x on vectors: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for e^r, and n put into the
// exponent.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Adding it rounds to an integer, whose bits are the lowest then; 127 more make them the exponent
// of a power of two.
inline constexpr float exponent_rounder = 12582912.0f + 127;  // 1.5 * 2^23
inline F power_of_two(F rounded) { return as_float(shift_left(as_int(rounded), 23)); }

// e^r within 4e-9 of its value: the polynomial that is nearest among those that begin with 1 + r.
inline F exp_of_small(F r) {
    F p = splat(1.381454e-3f);
    p = fma(p, r, splat(8.368745e-3f));
    p = fma(p, r, splat(4.166839e-2f));
    p = fma(p, r, splat(1.6666521e-1f));
    p = fma(p, r, splat(4.9999994e-1f));
    p = fma(p, r, splat(1.0f));
    return fma(p, r, splat(1.0f));
}

// Within 1 unit in the last place for x from -87 to 88, 0 below. Above 88.3 it stays e^88.3, and of
// what is no number it is 0.
inline F exp(F x) {
    F clamped = min(max(x, splat(-87.3f)), splat(88.3f));
    F rounded = fma(clamped, splat(1.44269504f), splat(exponent_rounder));
    F n = sub(rounded, splat(exponent_rounder));
    F r = fma(n, splat(-0.693359375f), clamped);  // ln 2 in two parts
    r = fma(n, splat(2.12194440e-4f), r);
    return keep_from(x, -87.3f, mul(exp_of_small(r), power_of_two(rounded)));
}

// 0, but no number where x is none: min and max give their second operand then.
inline F zero_if_number(F x) { return mul(min(splat(1e30f), max(splat(-1e30f), x)), zero()); }

// cap tanh(x / cap), as tanh u = 1 - 2 / (e^2u + 1). What is no number stays none.
inline F capped(F x, float cap) {
    F power = exp(mul(x, splat(2 / cap)));
    F tanh = sub(splat(1.0f), div(splat(2.0f), add(power, splat(1.0f))));
    return fma(splat(cap), tanh, zero_if_number(x));
}

// g sigmoid(x)
inline F gated(F g, F x) { return div(g, add(splat(1.0f), exp(sub(zero(), x)))); }
inline float gated(float g, float x) { return g / (1 + __builtin_expf(-x)); }

}  // namespace tandem::kernels::cpu::TANDEM_ISA
