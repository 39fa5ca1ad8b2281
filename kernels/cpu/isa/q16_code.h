// Rounding to 16-bit integers whose dot products fit 32 bits.
#pragma once

#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// 32 columns are 16 pairs of codes, of which the first 12 are multiplied as crossed.h says. With
// all of them the units that add would have too much to do: those that multiply are among them.
inline constexpr int q16_pairs = 16, crossed_pairs = 12;

// The scales of blocks, one in each lane, from the largest magnitude and the length of the block as
// a vector: codes have 16 bits, and no product of two blocks, nor a part of its sum, is larger than
// the product of the two lengths (Cauchy and Schwarz), which has 32. No number where the block has
// one that is not finite.
struct Q16Scale {
    static constexpr float least = 1e-37f;  // its inverse is a number
    F value, inverse;

    Q16Scale(F most, F length) : Q16Scale(most, length, largest, longest) {}

    // Of at most 32 numbers that are not negative, for products with any codes of 16 bits: those
    // are no larger than the largest such times the sum.
    static Q16Scale of_sum(F most, F sum) { return {most, sum, largest, most_sum}; }

    // Of a token, for products with rows that Q16Power rounds. Tiny ones have fewer bits, so that
    // an exponent may be added to their scale.
    static Q16Scale of_token(F most, F length) {
        return {most, length, largest_of_token, longest_token, least_token};
    }

    // The root of 2^31 is 46340.9, and rounding makes codes longer by at most half the root of
    // their number; it adds at most half their number to their sum.
    static constexpr int64_t most_elements = 1024;
    static constexpr float largest = 32766, longest = 46324, most_sum = 65516;
    // In variants that have crossed products (crossed.h), the sum of a token's and a row's code has
    // 16 bits.
    static constexpr float largest_of_token = crosses ? 18760 : largest;
    static constexpr float longest_token = crosses ? 42930 : 65500, least_token = 0x1p-80f;

  private:
    Q16Scale(F most, F all, float most_code, float most_of_all, float least_scale = 0) {
        const F needed = max(mul(most, splat(1 / most_code)), mul(all, splat(1 / most_of_all)));
        const F finite = max(needed, splat(least_scale));
        value = fma(all, zero(), fma(most, zero(), finite));
        inverse = keep_from(finite, least, div(splat(1.0f), finite));
    }
};

// Scales of a row's blocks that are powers of two, from the sum of a block's squares or more: the
// least that makes its codes, as a vector, no longer than 2^15. Codes of most F16 are exact then,
// and a product with another scale is an addition to its exponent.
struct Q16Power {
    I exponent;  // where a float has it, without bias
    F inverse;

    // Likewise: no code is larger than this, and no block longer.
    static constexpr float largest = 14000, longest = 50000;
    static Q16Power of_crossed(F squares, F most) {
        constexpr float longer = 0x1p15f / longest, larger = 0x1p15f / largest;
        const F alone = mul(most, splat(larger));
        return Q16Power(max(mul(squares, splat(longer * longer)), mul(alone, alone)));
    }

    explicit Q16Power(F squares) {
        // The least power of four that is no less; a little more leaves room for rounding.
        constexpr int32_t mantissa = 0x7fffff, bias = 127, bits = 15;
        const I above = add(as_int(mul(squares, splat(1.00013f))), splat(mantissa));
        const I half = shift_left(shift_right(above, 24), 23);
        constexpr int32_t less = bias / 2 + bits;
        exponent = add(half, splat(-(less << 23)));
        inverse = as_float(add(splat((bias + less) << 23), minus(half)));
    }

    F scale() const { return as_float(add(exponent, splat(127 << 23))); }
};
static_assert(!crosses || (Q16Power::largest + Q16Scale::largest_of_token < 32766 &&
                           (Q16Power::longest + 6) * (Q16Scale::longest_token + 6) < 0x1p31f));

// The length of some numbers as a vector: unit_of() their largest magnitude brings them to 1 at
// most, so that their squares, which add_square() adds up, are neither infinite nor all zero.
inline F unit_of(F most) { return keep_from(most, Q16Scale::least, div(splat(1.0f), most)); }
[[gnu::always_inline]] inline F add_square(F squares, F x, F unit) {
    const F of_most = mul(x, unit);
    return fma(of_most, of_most, squares);
}
inline F length_of(F most, F squares) { return mul(most, sqrt(squares)); }

// Rounds to an integer, halves to even, in the lower half of every lane: near 1.5 * 2^23 the last
// bit of a float is worth one.
[[gnu::always_inline]] inline I q16_code(F x, F inverse) {
    constexpr float rounds = 3 << 22;
    return as_int(fma(x, inverse, splat(rounds)));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
