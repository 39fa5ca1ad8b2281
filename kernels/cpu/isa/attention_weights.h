// Pieces of the softmax of scores that the kernels of attention share.
#pragma once

#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The score of what a query does not see.
inline constexpr float unseen = -__builtin_inff();

// What scores count from: the largest of them, or where all are unseen any number.
inline F base_of(F most) { return max(most, splat(-3e38f)); }

// e^(score - base) for scores up to the base; 0 below e^-87, so for unseen ones. What is no number
// stays none. As exp() of vector_math.h without what other arguments need.
inline F weight_of(F score, F base) {
    F x = max(splat(-88.1f), sub(score, base));
    F rounded = fma(x, splat(1.44269504f), splat(exponent_rounder));
    F r = fma(sub(rounded, splat(exponent_rounder)), splat(-0.693147181f), x);
    return mul(exp_of_small(r), power_of_two(rounded));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
