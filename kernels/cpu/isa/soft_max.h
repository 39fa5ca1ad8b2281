// Pieces of the soft maximum of scores that the kernels of attention share.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The score of what a query does not see.
inline constexpr float unseen = -__builtin_inff();

// What query i sees of the `count` positions from `begin` on: cells [from, to).
struct Seen {
    int64_t from = 0, to = 0;
};
inline Seen seen_by(const Attention& a, int64_t i, int64_t begin, int64_t count) {
    int64_t from = a.first[i] - begin, to = a.last[i] - begin;
    from = from < 0 ? 0 : from < count ? from : count;
    to = to < from ? from : to < count ? to : count;
    return {from, to};
}

// cap tanh(x / cap), as tanh u = 1 - 2 / (e^2u + 1). What is no number stays none.
inline F capped(F x, float cap) {
    F power = exp(mul(x, splat(2 / cap)));
    F tanh = sub(splat(1.0f), div(splat(2.0f), add(power, splat(1.0f))));
    return fma(splat(cap), tanh, mul(x, zero()));
}

// What scores count from: the largest of them, or where all are unseen any number.
inline F base_of(F most) { return max(most, splat(-3e38f)); }

// e^(score - base), added to `sum`; 0 for the unseen. exp() gives 0 for what is no number, so `sum`
// takes note of it: 0 times any other score is 0.
inline F weight_of(F score, F base, F& sum) {
    F weight = exp(sub(score, base));
    sum = add(sum, fma(max(splat(-3e38f), score), zero(), weight));
    return weight;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
