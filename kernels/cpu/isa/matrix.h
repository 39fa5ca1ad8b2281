// The matrix product of all packed integer types: tiles of `lanes` weight rows by a few tokens.
//
// A packed group holds `lanes` rows. Each 32 elements of a row are 8 quads of 4; the vector of quad
// j has quad j of every row in its lanes, so one instruction multiplies it with one token's quad
// and adds up within the lanes:
//
//     rows        quad 0    quad 1         token
//     lane 0    [ w w w w | w w w w ...    [ a a a a | a a a a ...
//     lane 1    [ w w w w | w w w w ...      one quad for all lanes
//
// A Type unpacks its blocks into such vectors of codes, in groups of 32 elements with their scales:
//
//     block       elements of a block, and of the activation's blocks (32 or 256)
//     bytes       of a packed block of one row
//     zero        what a code of 0.0 is; 0 for types with a minimum of their own
//     levels      codes, or magnitudes of signed ones, are below this
//     is_signed   codes went through biased()
//     Scales      of each group: how results become values
//     groups(p, visit)   calls visit(group, codes[8], Scales) for each 32 elements of a block
//
// Of Scales, those with `per16` have two per group, those with `has_min` add minimum * sum of the
// activation, and those that are `whole` are whole numbers times one number of a block.
#pragma once

#include <type_traits>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <bool per16_, bool has_min_>
struct FloatScales {
    static constexpr bool per16 = per16_, has_min = has_min_, whole = false;
    static constexpr int count = per16 ? 2 : 1;
    F scales[count], mins[count];

    F scale(int h) const { return scales[h]; }
    F min(int h) const { return mins[h]; }
};
using Scale = FloatScales<false, false>;
using ScaleMin = FloatScales<false, true>;
using Scale16 = FloatScales<true, false>;

template <bool per16_, bool has_min_>
struct WholeScales {
    static constexpr bool per16 = per16_, has_min = has_min_, whole = true;
    static constexpr int count = per16 ? 2 : 1;
    F unit, min_unit;  // the same in all of a block
    I scales[count], mins[count];

    F scale(int h) const { return mul(unit, to_float(scales[h])); }
    F min(int h) const { return mul(min_unit, to_float(mins[h])); }
};

// Quads of unsigned codes that dot_halves() may add up: each adds two products with a token's
// codes, of which none is larger than 127, to a half. 0: sums of whole lanes are as fast, or codes
// signed.
template <class Type>
constexpr int quads_in_halves() {
    if constexpr (!sums_in_halves || Type::is_signed) {
        return 0;
    } else {
        constexpr int most = (1 << 15) - 1, of_quad = 2 * 127 * (Type::levels - 1);
        static_assert(2 * of_quad <= most);
        return 8 * of_quad <= most ? 8 : 4 * of_quad <= most ? 4 : 2;
    }
}

// Asks for as much as 32 elements of all rows take.
template <class Type>
[[gnu::always_inline]] inline void prefetch_group(const uint8_t* block, int g) {
    constexpr int bytes = Type::bytes * lanes, groups = Type::block / 32;
    const uint8_t* at = block + g * bytes / groups;
    for (int byte = 0; byte < bytes / groups; byte += 64) prefetch_line(at + byte);
}

// Adds quads [first, first + count) of a group to a sum of each of T tokens. A product waits for
// the one before it in its chain, so quads go round several chains where there are few tokens.
template <class Type, int count, int T>
[[gnu::always_inline]] inline void dot_quads(const I (&codes)[8], int first,
                                             const int8_t* const (&a)[T], I (&sums)[T]) {
    if constexpr (constexpr int most = quads_in_halves<Type>(); most > 0) {
        constexpr int some = most < count ? most : count;
        for (int begin = first; begin < first + count; begin += some) {
            I halves[T];
            for (int t = 0; t < T; ++t) halves[t] = splat(0);
            for (int j = begin; j < begin + some; ++j)
                for (int t = 0; t < T; ++t)
                    halves[t] = dot_halves(halves[t], codes[j], splat_quad(a[t] + 4 * j));
            for (int t = 0; t < T; ++t) sums[t] = dot_pairs(sums[t], halves[t], splat(0x00010001));
        }
        return;
    }
    constexpr int chains = T >= count ? 1 : T > 2 || count == 4 ? 2 : 4;
    I chain[T][chains];
    for (int t = 0; t < T; ++t)
        for (int c = 0; c < chains; ++c) chain[t][c] = c == 0 ? sums[t] : splat(0);
    for (int j = first; j < first + count; ++j)
        for (int t = 0; t < T; ++t) {
            I& sum = chain[t][j % chains];
            const I quad = splat_quad(a[t] + 4 * j);
            sum = Type::is_signed ? dot_signed(sum, codes[j], quad) : dot(sum, codes[j], quad);
        }
    for (int t = 0; t < T; ++t) {
        sums[t] = chain[t][0];
        for (int c = 1; c < chains; ++c) sums[t] = add(sums[t], chain[t][c]);
    }
}

// An i32 of 16 bits times a factor.
template <int factor>
[[gnu::always_inline]] inline I times_small(const uint8_t* number) {
    if constexpr (sums_in_halves) {
        const I both = splat_quad(reinterpret_cast<const int8_t*>(number));
        return dot_pairs(splat(0), both, splat(factor & 0xffff));
    }
    return splat(factor * *reinterpret_cast<const int32_t*>(number));
}

// A few tokens: one packed group of rows, T tokens, codes unpacked in registers.
template <class Type, int T>
inline void tile(const uint8_t* weights, int64_t columns, const uint8_t* const (&x)[T], F (&y)[T]) {
    constexpr int zero_code = Type::zero + (Type::is_signed ? signed_bias : 0);
    constexpr bool wide = Type::block == 256;
    const Q8Row row = q8_row(columns, Type::block);
    for (int t = 0; t < T; ++t) y[t] = zero();
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        F part[T];
        for (int t = 0; t < T; ++t) part[t] = zero();
        auto multiply_group = [&](int g, const I(&codes)[8], const auto& s) [[gnu::always_inline]] {
            using S = std::remove_cvref_t<decltype(s)>;
            const int64_t at = b * (Type::block / 32) + g;  // of the 32 elements, in the row
            prefetch_group<Type>(p, g);
            const int8_t* a[T];
            for (int t = 0; t < T; ++t) a[t] = reinterpret_cast<const int8_t*>(x[t]) + 32 * at;
            auto real_at = [&](int t, int64_t offset, int64_t i) {
                return splat(reinterpret_cast<const float*>(x[t] + offset)[i]);
            };
            F(&total)[T] = wide ? part : y;
            I product[T];
            constexpr int quads = 8 / S::count;
            const int64_t sums = S::per16 ? row.sums16 : row.sums32;
            const int64_t real_sums = S::per16 ? row.real_sums16 : row.real_sums32;
// Else codes would be picked at run time.
#pragma GCC unroll 2
            for (int h = 0; h < S::count; ++h) {
                const int64_t n = S::count * at + h;
                for (int t = 0; t < T; ++t) {
                    const uint8_t* sum = x[t] + sums + 4 * n;
                    product[t] = zero_code ? times_small<-zero_code>(sum) : splat(0);
                }
                dot_quads<Type, quads>(codes, quads * h, a, product);
                for (int t = 0; t < T; ++t) {
                    F scale = s.scale(h);
                    if constexpr (!wide) scale = mul(scale, real_at(t, row.scales, at));
                    total[t] = fma(to_float(product[t]), scale, total[t]);
                    if constexpr (S::has_min)
                        total[t] = fma(s.min(h), real_at(t, real_sums, n), total[t]);
                }
            }
        };
        // One load follows a field from group to group, so that the processor's prefetchers learn
        // its way, and the code for eight tokens stays short.
        Type::groups(p, InLoop{multiply_group});
        if constexpr (wide)
            for (int t = 0; t < T; ++t)
                y[t] =
                    fma(part[t], splat(reinterpret_cast<const float*>(x[t] + row.scales)[b]), y[t]);
    }
}

// Signed codes in blocks of 32 of two packed groups, which share what is read of tokens.
template <class Type, int T>
inline void tile_of_two(const uint8_t* weights, int64_t group_bytes, int64_t columns,
                        const uint8_t* const (&x)[T], F (&y)[2][T]) {
    using S = typename Type::Scales;
    static_assert(Type::block == 32 && Type::is_signed && !S::has_min && signed_bias == 0);
    const Q8Row row = q8_row(columns, Type::block);
    for (auto& of_group : y)
        for (F& total : of_group) total = zero();
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        I codes[2][8], sums[2][T];
        F scales[2];
        for (int g = 0; g < 2; ++g) {
            prefetch_group<Type>(p + g * group_bytes, 0);
            Type::groups(p + g * group_bytes, [&](int, const I(&of_group)[8], const S& s) {
                for (int j = 0; j < 8; ++j) codes[g][j] = of_group[j];
                scales[g] = s.scale(0);
            });
            for (I& sum : sums[g]) sum = splat(0);
        }
        for (int j = 0; j < 8; ++j)
            for (int t = 0; t < T; ++t) {
                const I quad = splat_quad(reinterpret_cast<const int8_t*>(x[t]) + 32 * b + 4 * j);
                for (int g = 0; g < 2; ++g) sums[g][t] = dot_signed(sums[g][t], codes[g][j], quad);
            }
        for (int t = 0; t < T; ++t) {
            const F scale = splat(reinterpret_cast<const float*>(x[t] + row.scales)[b]);
            for (int g = 0; g < 2; ++g)
                y[g][t] = fma(to_float(sums[g][t]), mul(scales[g], scale), y[g][t]);
        }
    }
}

// The results of one group for a token: the last group may have fewer rows than lanes.
struct ResultRows {
    float* y = nullptr;
    int64_t count = 0;

    static ResultRows of(const Product& product, int64_t group, int64_t token) {
        const int64_t row = group * lanes, left = product.rows - row;
        const int64_t to = product.y_rows ? product.y_rows[token] : token;
        return {product.y + to * product.y_stride + row, left < lanes ? left : lanes};
    }

    F load() const {
        if (count == lanes) return load_f32(y);
        float present[lanes] = {};
        for (int64_t i = 0; i < count; ++i) present[i] = y[i];
        return load_f32(present);
    }

    void store(F value) const {
        if (count == lanes) return TANDEM_ISA::store(y, value);
        float values[lanes];
        TANDEM_ISA::store(values, value);
        for (int64_t i = 0; i < count; ++i) y[i] = values[i];
    }
};

// Stores the results of one group for T tokens.
template <int T>
inline void put(const Product& product, int64_t group, int64_t token, const F (&results)[T]) {
    for (int t = 0; t < T; ++t) {
        const ResultRows rows = ResultRows::of(product, group, token + t);
        F value = results[t];
        if (product.weights) value = fma(value, splat(product.weights[token + t]), rows.load());
        rows.store(value);
    }
}

// Results of some tokens of a tile for one group of rows, `stride` floats from token to token.
inline void put_tile(const Product& product, int64_t group, int64_t token, int64_t tokens,
                     const float* results, int64_t stride) {
    for (int64_t t = 0; t < tokens; ++t)
        put<1>(product, group, token + t, {load_f32(results + t * stride)});
}

inline const uint8_t* token_row(const Product& product, int64_t token) {
    const int64_t from = product.x_rows ? product.x_rows[token] : token;
    return product.x + from * product.x_stride;
}

// T tokens from `token` on, one packed group.
template <int T, typename Tile>
inline void run_tile(const Product& product, int64_t group, int64_t token, const uint8_t* weights,
                     Tile tile) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = token_row(product, token + t);
    F results[T];
    tile(weights, x, results);
    put<T>(product, group, token, results);
}

// visit<count>() for a count from 1 to `most`.
template <int most, typename Visit>
inline void with_count(int64_t count, Visit visit) {
    if (count == most)
        visit.template operator()<most>();
    else if constexpr (most > 1)
        with_count<most - 1>(count, visit);
}

// All tokens against all groups of rows: blocks of tokens whose activations stay in a cache, within
// them the groups, whose weights stay in the nearest one while the tokens pass.
template <int most, int64_t together, typename Each>
inline void for_tiles(const Product& product, int64_t group_bytes, Each each) {
    constexpr int64_t token_block = 128;
    for (int64_t first = 0; first < product.tokens; first += token_block) {
        int64_t last = first + token_block < product.tokens ? first + token_block : product.tokens;
        for (int64_t group = product.first_group; group < product.last_group; group += together) {
            const int64_t left_groups = product.last_group - group;
            const int64_t groups = left_groups < together ? left_groups : together;
            const uint8_t* weights = product.matrix + group * group_bytes;
            for (int64_t token = first; token < last;) {
                const int64_t left = last - token, passes = (left + most - 1) / most;
                const int64_t count = (left + passes - 1) / passes;  // alike in all of them
                with_count<most>(count, [&]<int T>() {
                    each.template operator()<T>(group, groups, token, weights);
                });
                token += count;
            }
        }
    }
}

// T tokens from `token` on, two packed groups.
template <class Type, int T>
inline void run_two(const Product& product, int64_t group, int64_t token, const uint8_t* weights,
                    int64_t group_bytes) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = token_row(product, token + t);
    F results[2][T];
    tile_of_two<Type, T>(weights, group_bytes, product.columns, x, results);
    for (int g = 0; g < 2; ++g) put<T>(product, group + g, token, results[g]);
}

// Where a signed product takes many instructions, tokens are read for two groups at once.
template <class Type>
inline constexpr int64_t groups_together = (sums_in_halves && Type::block == 32 && Type::is_signed)
                                               ? 2
                                               : 1;
inline constexpr int least_together = 3;  // tokens

template <class Type>
void multiply(const Product& product) {
    constexpr int most = lanes == 16 ? 8 : 4;
    int64_t group_bytes = product.columns / Type::block * Type::bytes * lanes;
    for_tiles<most, groups_together<Type>>(
        product, group_bytes,
        [&]<int T>(int64_t group, int64_t groups, int64_t token, const uint8_t* weights) {
            if constexpr (groups_together<Type> == 2 && T >= least_together)
                if (groups == 2)
                    return run_two<Type, T>(product, group, token, weights, group_bytes);
            for (int64_t g = 0; g < groups; ++g, weights += group_bytes)
                run_tile<T>(product, group + g, token, weights,
                            [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[T]) {
                                tile<Type, T>(w, product.columns, x, y);
                            });
        });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
