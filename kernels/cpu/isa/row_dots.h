// Products of packed integer types with few tokens, rows of int8 blocks (Q8Row): groups of `lanes`
// rows by a few tokens.
//
//     for (row r, token t) {
//         float y = 0;
//         for (block b) {                    // of 32 or 256 columns
//             float of_block = 0;
//             for (part p of b) {            // columns that have a scale: 32, or 16
//                 int sum = 0;
//                 for (column k of p) sum += (code(r, k) - zero) * x.code(t, k);
//                 of_block = fma(sum, scale(r, p), of_block);
//                 if (has_min) of_block = fma(min(r, p), x.sum(t, p), of_block);
//             }
//             y = fma(of_block, x.scale(t, b), y);
//         }
//     }
//
// Smaller blocks than 256 have no sum of their own: y = fma(sum, scale(r) * x.scale(t), y), and
// minima are multiplied by x.sum(t) * x.scale(t), rounded before. Whole scales, and where they add
// up in lanes whole minima, are multiplied in integers: of_block is those sums times the unit,
// rounded once.
//
// Each 32 elements of a row are 8 quads of 4; the vector of quad j has quad j of every row in its
// lanes, so one instruction multiplies it with one token's quad and adds up within the lanes:
//
//     rows        quad 0    quad 1         token
//     lane 0    [ w w w w | w w w w ...    [ a a a a | a a a a ...
//     lane 1    [ w w w w | w w w w ...      one quad for all lanes
#pragma once

#include <array>
#include <utility>

#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/quad_sums.h"
#include "kernels/cpu/isa/row_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// How the sums of a Type are kept.
template <class Type>
struct RowTraits {
    using Scales = typename Type::Scales;
    static constexpr bool wide = is_wide<Type>;
    static constexpr int zero = Type::zero + (Type::is_signed ? signed_bias : 0);
    static constexpr int quads = 8 / Scales::count;  // that have a scale
    // Quads whose sums in halves of lanes are multiplied by whole scales, and whether sums of lanes
    // are, in pairs.
    static constexpr int in_halves = whole_quads<Type>();
    static constexpr bool in_pairs = whole_in_lanes<Type> && sums_have_16_bits<Type>();
    static constexpr bool whole_mins = whole_in_lanes<Type> && Scales::has_min;
};

// What T tokens have, a row (Q8Row) each.
template <class Type, int T>
struct TokenRows {
    const uint8_t* const (&x)[T];
    const Q8Row row;

    F real(int t, int64_t offset, int64_t i) const {
        return splat(reinterpret_cast<const float*>(x[t] + offset)[i]);
    }
    F scale(int t, int64_t block) const { return real(t, row.scales, block); }
    // Of the codes of 32 columns, or of 16 where weights have a scale for so many.
    const uint8_t* sum(int t, int64_t part) const {
        return x[t] + (Type::Scales::per16 ? row.sums16 : row.sums32) + 4 * part;
    }
    F real_sum(int t, int64_t part) const {
        return real(t, Type::Scales::per16 ? row.real_sums16 : row.real_sums32, part);
    }
};

// make(0) to make(count - 1).
template <int count, typename Make>
[[gnu::always_inline]] inline auto array_of(Make make) {
    auto make_all = [&]<int... i>(std::integer_sequence<int, i...>) [[gnu::always_inline]] {
        return std::array{make(i)...};
    };
    return make_all(std::make_integer_sequence<int, count>{});
}

// The sums of products of the h-th part of 32 columns: `sums`, or times whole scales added to
// `whole`. `part`: its number in the row.
template <class Type, int G, int T, typename Codes>
[[gnu::always_inline]] inline void multiply_part(const Codes& codes,
                                                 const typename Type::Scales (&scales)[G], int h,
                                                 const TokenRows<Type, T>& tokens, int64_t part,
                                                 const int8_t* const (&a)[T], I (&sums)[G][T],
                                                 I (&whole)[G][T]) {
    using R = RowTraits<Type>;
    if constexpr (constexpr int some = R::in_halves; some > 0) {
        I both[G];
        for (int g = 0; g < G; ++g) both[g] = pair_of(scales[g].scales[h], scales[g].scales[h]);
        auto begin = [&](int t) [[gnu::always_inline]] {
            static_assert(!R::zero || R::quads == some);
            return R::zero ? times_parts<-R::zero>(tokens.sum(t, part)) : splat(0);
        };
#pragma GCC unroll 2
        for (int j = 0; j < R::quads; j += some)
            add_whole<some>(codes, R::quads * h + j, a, begin, both, whole);
    } else {
        auto begin = [&](int t) [[gnu::always_inline]] {
            if constexpr (R::zero == 0) return splat(0);
            if constexpr (begins_in_halves<Type, R::quads>())
                return times_parts<-R::zero>(tokens.sum(t, part));
            return times_sum<-R::zero>(tokens.sum(t, part));
        };
        dot_quads<Type, R::quads>(codes, R::quads * h, a, begin, sums);
    }
}

// Adds those sums, each times the scale of its row, to totals; in smaller blocks than 256, times
// that of its token, too.
template <class Type, int G, int T>
[[gnu::always_inline]] inline void add_part(const I (&sums)[G][T],
                                            const typename Type::Scales (&scales)[G], int h,
                                            const TokenRows<Type, T>& tokens, int64_t part,
                                            F (&totals)[G][T]) {
    F factors[G];
    for (int g = 0; g < G; ++g) factors[g] = scales[g].scale(h);
    for (int t = 0; t < T; ++t)
        for (int g = 0; g < G; ++g) {
            F scale = factors[g];
            if constexpr (!RowTraits<Type>::wide)
                scale = mul(scale, tokens.scale(t, part / Type::Scales::count));
            totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
        }
}

// Adds minima of rows times the sums of tokens' codes to `whole`, or to totals.
template <class Type, int G, int T>
[[gnu::always_inline]] inline void add_mins_of_part(const typename Type::Scales (&scales)[G], int h,
                                                    const TokenRows<Type, T>& tokens, int64_t part,
                                                    I (&whole)[G][T], F (&totals)[G][T]) {
    if constexpr (RowTraits<Type>::whole_mins) {
        for (int t = 0; t < T; ++t)
            for (int g = 0; g < G; ++g)
                whole[g][t] =
                    dot_pairs(whole[g][t], scales[g].mins[h], times_sum<1>(tokens.sum(t, part)));
    } else {
        F mins[G];
        for (int g = 0; g < G; ++g) mins[g] = scales[g].min(h);
        for (int t = 0; t < T; ++t)
            for (int g = 0; g < G; ++g)
                totals[g][t] = fma(mins[g], tokens.real_sum(t, part), totals[g][t]);
    }
}

// A block of G groups of rows and T tokens, the b-th of their rows, added to y; `weights`: the
// rows.
template <class Type, int G, int T>
[[gnu::always_inline]] inline void add_block(const uint8_t* weights, int64_t apart, int64_t b,
                                             const TokenRows<Type, T>& tokens, F (&y)[G][T]) {
    using R = RowTraits<Type>;
    using S = typename Type::Scales;
    const uint8_t* p = weights + b * Type::bytes * lanes;
    const auto packed =
        array_of<G>([&](int g) [[gnu::always_inline]] { return Type{p + g * apart}; });
    F of_block[G][T];
    for (auto& of_group : of_block)
        for (F& total : of_group) total = zero();
    F(&totals)[G][T] = R::wide ? of_block : y;
    I whole[G][T], of_mins[G][T];
    for (int g = 0; g < G; ++g)
        for (int t = 0; t < T; ++t) whole[g][t] = of_mins[g][t] = splat(0);
    // Minima have a loop of their own where registers have no room for their sums beside two of the
    // products.
    constexpr bool mins_first = S::has_min && R::in_halves > 0 && G * T >= 4;
    if constexpr (mins_first)
        each_run<Type, false>([&](int run) [[gnu::always_inline]] {
            S scales[G];
            for (int g = 0; g < G; ++g) scales[g] = packed[size_t(g)].scales(run);
            const int64_t part = S::count * (b * (Type::block / 32) + run);
            for (int h = 0; h < S::count; ++h)
                add_mins_of_part<Type>(scales, h, tokens, part + h, of_mins, totals);
        });
    // In a loop, one load follows a field through the block, so that the processor's prefetchers
    // learn its way, and the code for eight tokens stays short.
    each_run<Type, false>([&](int run) [[gnu::always_inline]] {
        const int64_t at = b * (Type::block / 32) + run;  // of the run, in the row
        // Memory gives the next groups in the order in which they lie.
        const uint8_t* lines = weights + at * run_bytes<Type>;
        const uint8_t* next = weights + G * apart + G * at * run_bytes<Type>;
        for (int g = 0; g < G; ++g)
            prefetch_part<Type, T>(lines + g * apart + near_ahead,
                                   G == 1 ? lines + far_ahead : next + g * run_bytes<Type>);
        const int8_t* a[T];
        for (int t = 0; t < T; ++t) a[t] = reinterpret_cast<const int8_t*>(tokens.x[t]) + 32 * at;
        const auto codes =
            array_of<G>([&](int g) [[gnu::always_inline]] { return packed[size_t(g)].codes(run); });
        S scales[G];
        for (int g = 0; g < G; ++g) scales[g] = packed[size_t(g)].scales(run);
        I sums[S::count][G][T];
// Else codes would be picked at run time.
#pragma GCC unroll 2
        for (int h = 0; h < S::count; ++h) {
            const int64_t part = S::count * at + h;
            multiply_part<Type>(codes, scales, h, tokens, part, a, sums[h], whole);
            if constexpr (R::in_halves == 0 && !R::in_pairs)
                add_part<Type>(sums[h], scales, h, tokens, part, totals);
            if constexpr (S::has_min && !mins_first)
                add_mins_of_part<Type>(scales, h, tokens, part, of_mins, totals);
        }
        if constexpr (R::in_pairs) add_pairs(sums, scales, whole);
    });
    for (int g = 0; g < G; ++g)
        for (int t = 0; t < T; ++t) {
            [[maybe_unused]] F& sum = of_block[g][t];
            if constexpr (R::in_halves > 0 || R::in_pairs)
                sum = fma(to_float(whole[g][t]), packed[size_t(g)].scales(0).unit, sum);
            if constexpr (R::whole_mins)
                sum = fma(to_float(of_mins[g][t]), packed[size_t(g)].scales(0).min_unit, sum);
        }
    if constexpr (R::wide)
        for (int t = 0; t < T; ++t)
            for (int g = 0; g < G; ++g) y[g][t] = fma(of_block[g][t], tokens.scale(t, b), y[g][t]);
}

// A few tokens: G packed groups of rows, `apart` from one another, and T tokens; codes are unpacked
// in registers. More groups than one share what is read of tokens.
template <class Type, int G, int T>
inline void multiply_few(const uint8_t* weights, int64_t apart, int64_t columns,
                         const uint8_t* const (&x)[T], F (&y)[G][T]) {
    for (auto& of_group : y)
        for (F& total : of_group) total = zero();
    const TokenRows<Type, T> tokens{x, q8_row(columns, is_wide<Type> ? 256 : 32)};
    for (int64_t b = 0; b < columns / Type::block; ++b)
        add_block<Type>(weights, apart, b, tokens, y);
}

// Where a product takes many instructions, some tokens are read for two groups at once: for as many
// as registers have room for sums. Four make eight, half of 16 registers; reading one alone takes
// little beside unpacking the rows.
template <class Type>
inline constexpr int64_t groups_together = (sums_in_halves && Type::by_quads &&
                                            !has_few_sizes<Type>())
                                               ? 2
                                               : 1;
inline constexpr int least_together = 2, most_together = 4;  // tokens

template <class Type>
void multiply_rows(const Product& product) {
    constexpr bool powers = has_few_sizes<Type>();
    // Sums of products, in chains, and totals: 16 of 32 registers, or 12 of 16.
    constexpr int most = lanes == 16 ? 8 : powers ? 4 : 6;
    const int64_t group_bytes = group_bytes_of<Type>(product);
    auto each = [&]<int T>(int64_t group, int64_t groups, int64_t token, const uint8_t* weights) {
        auto of_groups = [&]<int G>(int64_t first) {
            run_rows<G, T>(product, group + first, token, weights + first * group_bytes,
                           [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[G][T]) {
                               multiply_few<Type, G, T>(w, group_bytes, product.columns, x, y);
                           });
        };
        if constexpr (groups_together<Type> == 2 && T >= least_together && T <= most_together)
            if (groups == 2) return of_groups.template operator()<2>(0);
        for (int64_t g = 0; g < groups; ++g) of_groups.template operator()<1>(g);
    };
    for_rows<most, powers, groups_together<Type>>(product, group_bytes, each);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
