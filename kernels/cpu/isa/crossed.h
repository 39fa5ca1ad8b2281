// Dot products with half as many multiplications (S. Winograd, A New Algorithm for Inner Product,
// IEEE Transactions on Computers C-17, 1968). Of every two numbers of a row and of a token,
//
//     w0 y0 + w1 y1 = (w0 + y1) (w1 + y0) - w0 w1 - y0 y1
//
// and what is taken off is known of the row and of the token before they meet. So two additions
// take the place of a multiplication, which pays where vectors are added by twice as many units as
// multiply them. All numbers are integers, and results the same as without.
//
//     rows      [words][lanes], words of 4 bytes or 2 halves: even ones are w0, odd ones w1
//     tokens    words likewise, y0 and y1
//     sums      begin with what is taken off, of all words that they add up
//
// Sums of a row's and a token's number must have room where one of them has. Codes of 4 bits count
// from their middle, therefore. One factor of the dot products of bytes is unsigned, so that 128 is
// added to w0:
//
//     w0 y0 + w1 y1 = (w0 + 128 + y1) (w1 + y0) - (w0 + 128) w1 - (y1 + 128) y0
#pragma once

#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// A Type (weight_type.h, q16_dots.h) of which additions take the place of some products, by
// crossing them or otherwise (panel.h): for processors on which adds_cheaply() holds.
template <class Type>
struct Adding : Type {
    static constexpr bool adds = true;
    explicit Adding(const uint8_t* at) : Type{at} {}
};
template <class Type>
inline constexpr bool is_adding = requires {
    Type::adds;
};
// Groups that meet a token together: such processors need fewer sums, and registers for additions.
template <class Type>
inline constexpr int groups_of = is_adding<Type> ? panel_groups : most_panel_groups;

// What is taken off codes.
template <class Type>
inline constexpr int middle_code = Type::levels / 2;

// Whether sums of codes fit a byte; with scales of 16 columns they gain nothing.
template <class Type>
constexpr bool crosses_bytes() {
    return crosses && !Type::is_signed && Type::Scales::count == 1 &&
           largest_small_code + middle_code<Type> <= 128;
}

// Stores codes of 32 columns as words of a row, and what its sums begin with.
template <class Type, typename Codes>
[[gnu::always_inline]] inline void store_crossed(const Codes& codes, uint8_t* words,
                                                 uint8_t* begin) {
    constexpr int middle = middle_code<Type>;
    I sum = splat(0);
    for (int j = 0; j < 8; j += 2) {
        const I even = add_bytes(codes(j), splat_bytes(128 - middle));
        const I odd = add_bytes(codes(j + 1), splat_bytes(-middle));
        store(words + 4 * lanes * j, even);
        store(words + 4 * lanes * (j + 1), odd);
        sum = dot(sum, even, odd);
    }
    store(begin, minus(sum));
}

// Adds the products of `count` words of every group's rows, the panels of which lie `apart`, with
// those of some tokens, which are 64 bytes from one another.
template <int count, size_t apart, int groups, int tokens, typename Add, typename Dot>
[[gnu::always_inline]] inline void multiply_crossed(const uint8_t* rows, const int8_t* x,
                                                    I (&sums)[groups][tokens], Add add_words,
                                                    Dot dot_words) {
#pragma GCC unroll 8
    for (int j = 0; j < count; j += 2) {
        I even[groups], odd[groups];
        for (int g = 0; g < groups; ++g) {
            const uint8_t* words = rows + g * apart + j * 4 * lanes;
            even[g] = in_register(load(words));
            odd[g] = in_register(load(words + 4 * lanes));
        }
        for (int t = 0; t < tokens; ++t) {
            const I first = splat_quad(x + 64 * t + 4 * j);
            const I second = splat_quad(x + 64 * t + 4 * j + 4);
            for (int g = 0; g < groups; ++g)
                sums[g][t] =
                    dot_words(sums[g][t], add_words(even[g], second), add_words(odd[g], first));
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
