// Rounding to 16-bit integers whose dot products fit 32 bits.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The scales of blocks, one in each lane, from the largest magnitude and the length of the block as
// a vector: codes have 16 bits, and no product of two blocks, nor a part of its sum, is larger than
// the product of the two lengths (Cauchy and Schwarz), which has 32. No number where the block has
// one that is not finite.
struct Q16Scale {
    static constexpr float least = 1e-37f;  // its inverse is a number
    F scale, inverse;

    Q16Scale(F most, F length) : Q16Scale(most, length, longest) {}

    // Of at most 32 numbers that are not negative, for products with any codes of 16 bits: those
    // are no larger than the largest such times the sum.
    static Q16Scale of_sum(F most, F sum) { return {most, sum, most_sum}; }

    // The root of 2^31 is 46340.9, and rounding makes codes longer by at most half the root of
    // their number; it adds at most half their number to their sum.
    static constexpr int64_t most_elements = 1024;
    static constexpr float largest = 32766, longest = 46324, most_sum = 65516;

  private:
    Q16Scale(F most, F all, float most_of_all) {
        const F finite = max(mul(most, splat(1 / largest)), mul(all, splat(1 / most_of_all)));
        scale = fma(all, zero(), fma(most, zero(), finite));
        inverse = keep_from(finite, least, div(splat(1.0f), finite));
    }
};

// What makes numbers of this magnitude at most 1, whose squares are neither too large nor all too
// small.
inline F unit_of(F most) { return keep_from(most, Q16Scale::least, div(splat(1.0f), most)); }

// In the lower half of every lane: the last bit of the sum is worth one.
[[gnu::always_inline]] inline I q16_code(F x, F inverse) {
    constexpr float rounds = 3 << 22;
    return as_int(fma(x, inverse, splat(rounds)));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
