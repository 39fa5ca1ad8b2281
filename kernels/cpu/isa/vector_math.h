// e^x on vectors: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for e^r, and n put into the
// exponent. Within 2 units in the last place for x from -87 to 88, 0 below.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline F exp(F x) {
    F clamped = min(max(x, splat(-87.3f)), splat(88.3f));
    I n = round_to_int(mul(clamped, splat(1.44269504f)));
    F r = fma(to_float(n), splat(-0.693359375f), clamped);  // ln 2 in two parts
    r = fma(to_float(n), splat(2.12194440e-4f), r);
    F p = splat(1.0f / 5040);
    p = fma(p, r, splat(1.0f / 720));
    p = fma(p, r, splat(1.0f / 120));
    p = fma(p, r, splat(1.0f / 24));
    p = fma(p, r, splat(1.0f / 6));
    p = fma(p, r, splat(0.5f));
    p = fma(p, r, splat(1.0f));
    p = fma(p, r, splat(1.0f));
    F power = as_float(shift_left(add(n, splat(127)), 23));
    return keep_from(x, -87.3f, mul(p, power));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
