// Sums of products of some quads of codes with those of a few tokens: in whole lanes, or in halves
// of lanes as long as these have room.
#pragma once

#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/weight_type.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Quads of unsigned codes that dot_halves() may add up: each adds two products with a token's
// codes, of which none is larger than largest_code, to a half. 0: sums of whole lanes are as fast,
// or codes signed.
template <class Type>
constexpr int quads_in_halves() {
    if constexpr (!sums_in_halves || Type::is_signed) {
        return 0;
    } else {
        constexpr int most = (1 << 15) - 1, of_quad = 2 * largest_code * (Type::levels - 1);
        static_assert(2 * of_quad <= most);
        return 8 * of_quad <= most ? 8 : 4 * of_quad <= most ? 4 : 2;
    }
}

// Whether sums in halves of lanes begin with what is taken off for codes of zero. They may then
// leave 16 bits on the way, as they wrap: only the sum of all `count` quads must fit.
template <class Type, int count>
constexpr bool begins_in_halves() {
    return quads_in_halves<Type>() > 0 && Type::zero > 0 &&
           farthest_code<Type> * largest_code * 2 * count < 1 << 15;
}

// Whether whole scales are multiplied in integers, a pair of sums at a time, and whole minima.
template <class Type>
inline constexpr bool whole_in_lanes = fast_pairs && !sums_in_halves && Type::Scales::whole;

// Quads that dot_halves() may add up where each sum in halves is multiplied by a whole scale. What
// codes of zero add is taken off, so that the magnitudes of 16 neighbours (most_magnitude) bound a
// sum: of 16 columns, or of 32 where there is room for twice as much. 0 for types with minima per
// 16, too: they are faster with float scales.
template <class Type>
constexpr int whole_quads() {
    using S = typename Type::Scales;
    if constexpr (!sums_in_halves || Type::is_signed || !S::whole || (S::per16 && S::has_min)) {
        return 0;
    } else {
        constexpr int most = farthest_code<Type> * most_magnitude;
        static_assert(most < 1 << 15);
        return !S::per16 && 2 * most < 1 << 15 ? 8 : 4;
    }
}

// A sum of a row of tokens (Q8Row) times a factor.
template <int factor>
[[gnu::always_inline]] inline I times_sum(const uint8_t* sum) {
    if constexpr (sums_in_halves) {
        const I parts = splat_quad(reinterpret_cast<const int8_t*>(sum));
        return dot_pairs(splat(0), parts, splat(in_both_halves(factor)));
    }
    return splat(factor * *reinterpret_cast<const int32_t*>(sum));
}
// Its parts in halves of lanes, each times a factor.
template <int factor>
[[gnu::always_inline]] inline I times_parts(const uint8_t* sum) {
    const I parts = splat_quad(reinterpret_cast<const int8_t*>(sum));
    return times_halves(parts, splat(in_both_halves(factor)));
}

// Adds quads [first, first + count) of G groups of rows and T tokens to sums in halves of lanes.
template <int count, int G, int T, typename Codes>
[[gnu::always_inline]] inline void add_halves(const Codes& codes, int first,
                                              const int8_t* const (&a)[T], I (&halves)[G][T]) {
#pragma GCC unroll 8
    for (int j = first; j < first + count; ++j) {
        I row[G];
        for (int g = 0; g < G; ++g) row[g] = codes[g](j);
        for (int t = 0; t < T; ++t) {
            const I quad = splat_quad(a[t] + 4 * j);
            for (int g = 0; g < G; ++g)
                halves[g][t] = at_once(dot_halves(halves[g][t], row[g], quad));
        }
    }
}

// Quads [first, first + count) of G groups of rows and T tokens: what sums begin with, and the
// products. A product waits for the one before it in its chain, so quads go round several chains
// where there are few tokens. begin(t) is in halves of lanes where begins_in_halves().
template <class Type, int count, int G, int T, typename Codes, typename Begin>
[[gnu::always_inline]] inline void dot_quads(const Codes& codes, int first,
                                             const int8_t* const (&a)[T], Begin begin,
                                             I (&sums)[G][T]) {
    if constexpr (constexpr int most = quads_in_halves<Type>(); most > 0) {
        constexpr bool begins = begins_in_halves<Type, count>();
        constexpr int some = begins || count < most ? count : most;
#pragma GCC unroll 8
        for (int from = first; from < first + count; from += some) {
            I halves[G][T];
            for (int t = 0; t < T; ++t) {
                const I before = begins ? begin(t) : splat(0);
                for (int g = 0; g < G; ++g) halves[g][t] = before;
            }
            add_halves<some>(codes, from, a, halves);
            for (int t = 0; t < T; ++t) {
                const I before = !begins && from == first ? begin(t) : splat(0);
                for (int g = 0; g < G; ++g)
                    sums[g][t] = dot_pairs(from == first ? before : sums[g][t], halves[g][t],
                                           splat(0x00010001));
            }
        }
    } else {
        constexpr int chains = T >= count ? 1 : T > 2 || count == 4 ? 2 : 4;
        I chain[G][T][chains];
        for (int t = 0; t < T; ++t)
            for (int c = 0; c < chains; ++c) {
                const I before = c == 0 ? begin(t) : splat(0);
                for (int g = 0; g < G; ++g) chain[g][t][c] = before;
            }
#pragma GCC unroll 8
        for (int j = first; j < first + count; ++j) {
            I row[G];
            for (int g = 0; g < G; ++g) row[g] = codes[g](j);
            for (int t = 0; t < T; ++t) {
                const I quad = splat_quad(a[t] + 4 * j);
                for (int g = 0; g < G; ++g) {
                    I& sum = chain[g][t][j % chains];
                    sum = at_once(Type::is_signed ? dot_signed(sum, row[g], quad)
                                                  : dot(sum, row[g], quad));
                }
            }
        }
        for (int g = 0; g < G; ++g)
            for (int t = 0; t < T; ++t) {
                sums[g][t] = chain[g][t][0];
                for (int c = 1; c < chains; ++c) sums[g][t] = add(sums[g][t], chain[g][t][c]);
            }
    }
}

// Adds the products of such quads, times whole scales of the rows, to `whole`. The scales are in
// both halves of lanes, and so is what begin(t) gives.
template <int count, int G, int T, typename Codes, typename Begin>
[[gnu::always_inline]] inline void add_whole(const Codes& codes, int first,
                                             const int8_t* const (&a)[T], Begin begin,
                                             const I (&scales)[G], I (&whole)[G][T]) {
    I halves[G][T];
    for (int t = 0; t < T; ++t) {
        const I before = begin(t);
        for (int g = 0; g < G; ++g) halves[g][t] = before;
    }
    add_halves<count>(codes, first, a, halves);
    for (int t = 0; t < T; ++t)
        for (int g = 0; g < G; ++g)
            whole[g][t] = at_once(dot_pairs(whole[g][t], halves[g][t], scales[g]));
}

// Adds products of one or two parts of 32 elements, times the whole scales of the rows, to `whole`.
template <int parts, int G, int T, class Scales>
[[gnu::always_inline]] inline void add_pairs(const I (&products)[parts][G][T],
                                             const Scales (&scales)[G], I (&whole)[G][T]) {
    for (int t = 0; t < T; ++t)
        for (int g = 0; g < G; ++g) {
            const I first = products[0][g][t], last = products[parts - 1][g][t];
            const I pair = parts == 1 ? first : pair_of(first, last);
            whole[g][t] = dot_pairs(whole[g][t], pair, scales[g].pair);
        }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
