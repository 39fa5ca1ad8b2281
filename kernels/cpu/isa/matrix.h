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
// A Type is a packed block of all rows, made of where it lies, and gives such vectors of codes:
//
//     block       elements of a block, and of the activation's blocks (32 or 256)
//     bytes       of a packed block of one row
//     zero        what a code of 0.0 is; 0 for types with a minimum of their own
//     levels      codes, or magnitudes of signed ones, are below this
//     is_signed   codes went through biased()
//     by_quads    a quad's codes take little by themselves; else all of a group are made together
//     codes(g)    of the g-th group of 32 elements: a function of the number of a quad
//     Scales      of a group: how results become values; scales(g)
//
// Of Scales, those with `per16` have two per group, those with `has_min` add minimum * sum of the
// activation, and those that are `whole` are whole numbers times one number of a block.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/lanes.h"
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
    I pair;  // both scales as i16, or the one in the lower half of a lane

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

// How far a code can be from that of 0.0.
template <class Type>
inline constexpr int farthest_code =
    Type::zero > Type::levels - 1 - Type::zero ? Type::zero : Type::levels - 1 - Type::zero;

// Whether sums of products with a whole scale have 16 bits: what codes of zero add is taken off,
// and the magnitudes of 16 neighbours bound them.
template <class Type>
constexpr bool sums_have_16_bits() {
    using S = typename Type::Scales;
    return S::whole && farthest_code<Type> * most_magnitude * 2 / S::count < 1 << 15;
}

// Whether whole scales are multiplied in integers, a pair of sums at a time, and whole minima.
template <class Type>
inline constexpr bool whole_in_lanes = fast_pairs && !sums_in_halves && Type::Scales::whole;

// Quads as above where each sum in halves is multiplied by a whole scale. What codes of zero add is
// taken off, and the magnitudes of 16 neighbours bound the sums: of 16 columns, or of 32 where
// there is room for twice as much. 0, too: the float scales of minima per 16 are faster.
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

// Bytes of 32 elements of all rows.
template <class Type>
inline constexpr int group_part = (lanes * Type::bytes) / (Type::block / 32);

// Asks for as much as 32 elements of all rows take, which some tokens pass.
template <class Type, int tokens>
[[gnu::always_inline]] inline void prefetch_part(const uint8_t* near, const uint8_t* far) {
    for (int byte = 0; byte < group_part<Type>; byte += 64)
        prefetch_lines<tokens>(near + byte, far + byte);
}

constexpr int32_t in_both_halves(int number) {
    return int32_t(uint32_t(number & 0xffff) * 0x10001);
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
            for (int g = 0; g < G; ++g) halves[g][t] = dot_halves(halves[g][t], row[g], quad);
        }
    }
}

// Quads [first, first + count) of G groups of rows and T tokens: what sums begin with, and the
// products. A product waits for the one before it in its chain, so quads go round several chains
// where there are few tokens.
template <class Type, int count, int G, int T, typename Codes, typename Begin>
[[gnu::always_inline]] inline void dot_quads(const Codes& codes, int first,
                                             const int8_t* const (&a)[T], Begin begin,
                                             I (&sums)[G][T]) {
    if constexpr (constexpr int most = quads_in_halves<Type>(); most > 0) {
        constexpr int some = most < count ? most : count;
#pragma GCC unroll 8
        for (int from = first; from < first + count; from += some) {
            I halves[G][T];
            for (auto& of_group : halves)
                for (I& half : of_group) half = splat(0);
            add_halves<some>(codes, from, a, halves);
            for (int t = 0; t < T; ++t) {
                const I before = from == first ? begin(t) : splat(0);
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
                    sum = Type::is_signed ? dot_signed(sum, row[g], quad) : dot(sum, row[g], quad);
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
        for (int g = 0; g < G; ++g) whole[g][t] = dot_pairs(whole[g][t], halves[g][t], scales[g]);
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

// A few tokens: G packed groups of rows, `apart` from one another, and T tokens; codes are unpacked
// in registers. More groups than one share what is read of tokens.
template <class Type, int G, int T>
inline void tile(const uint8_t* weights, int64_t apart, int64_t columns,
                 const uint8_t* const (&x)[T], F (&y)[G][T]) {
    using S = typename Type::Scales;
    constexpr int zero_code = Type::zero + (Type::is_signed ? signed_bias : 0);
    constexpr bool wide = Type::block == 256;
    constexpr int quads = 8 / S::count;
    const Q8Row row = q8_row(columns, Type::block);
    const int64_t sums = S::per16 ? row.sums16 : row.sums32;
    const int64_t real_sums = S::per16 ? row.real_sums16 : row.real_sums32;
    for (auto& of_group : y)
        for (F& total : of_group) total = zero();
    auto real_at = [&](int t, int64_t offset, int64_t i) [[gnu::always_inline]] {
        return splat(reinterpret_cast<const float*>(x[t] + offset)[i]);
    };
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        const auto packed = [&]<int... g>(std::integer_sequence<int, g...>) {
            return std::array<Type, G>{Type{p + g * apart}...};
        }
        (std::make_integer_sequence<int, G>{});
        F of_block[G][T];
        for (auto& of_group : of_block)
            for (F& total : of_group) total = zero();
        F(&totals)[G][T] = wide ? of_block : y;
        constexpr int most_whole = whole_quads<Type>();
        constexpr bool whole_pairs = whole_in_lanes<Type> && sums_have_16_bits<Type>();
        constexpr bool whole_mins = whole_in_lanes<Type> && S::has_min;
        I whole[G][T], of_mins[G][T];
        for (int g = 0; g < G; ++g)
            for (int t = 0; t < T; ++t) whole[g][t] = of_mins[g][t] = splat(0);
        // One load follows a field from group to group, so that the processor's prefetchers learn
        // its way, and the code for eight tokens stays short.
        each_group<Type, false>([&](int n) [[gnu::always_inline]] {
            const int64_t at = b * (Type::block / 32) + n;  // of the 32 elements, in the row
            // Memory gives the next groups in the order in which they lie.
            const uint8_t* part = weights + at * group_part<Type>;
            const uint8_t* next = weights + G * apart + G * at * group_part<Type>;
            for (int g = 0; g < G; ++g)
                prefetch_part<Type, T>(part + g * apart + near_ahead,
                                       G == 1 ? part + far_ahead : next + g * group_part<Type>);
            const int8_t* a[T];
            for (int t = 0; t < T; ++t) a[t] = reinterpret_cast<const int8_t*>(x[t]) + 32 * at;
            const auto codes = [&]<int... g>(std::integer_sequence<int, g...>) {
                return std::array{packed[g].codes(n)...};
            }
            (std::make_integer_sequence<int, G>{});
            S scales[G];
            for (int g = 0; g < G; ++g) scales[g] = packed[g].scales(n);
            I products[S::count][G][T];
// Else codes would be picked at run time.
#pragma GCC unroll 2
            for (int h = 0; h < S::count; ++h) {
                const int64_t k = S::count * at + h;
                auto sum_at = [&](int t) [[gnu::always_inline]] { return x[t] + sums + 4 * k; };
                if constexpr (most_whole > 0) {
                    I both[G];
                    for (int g = 0; g < G; ++g)
                        both[g] = pair_of(scales[g].scales[h], scales[g].scales[h]);
                    auto begin = [&](int t) [[gnu::always_inline]] {
                        static_assert(!zero_code || quads == most_whole);
                        return zero_code ? times_parts<-zero_code>(sum_at(t)) : splat(0);
                    };
#pragma GCC unroll 2
                    for (int j = 0; j < quads; j += most_whole)
                        add_whole<most_whole>(codes, quads * h + j, a, begin, both, whole);
                } else {
                    auto begin = [&](int t) [[gnu::always_inline]] {
                        return zero_code ? times_sum<-zero_code>(sum_at(t)) : splat(0);
                    };
                    dot_quads<Type, quads>(codes, quads * h, a, begin, products[h]);
                }
                if constexpr (most_whole == 0 && !whole_pairs) {
                    F factors[G];
                    for (int g = 0; g < G; ++g) factors[g] = scales[g].scale(h);
                    for (int t = 0; t < T; ++t)
                        for (int g = 0; g < G; ++g) {
                            F scale = factors[g];
                            if constexpr (!wide) scale = mul(scale, real_at(t, row.scales, at));
                            totals[g][t] = fma(to_float(products[h][g][t]), scale, totals[g][t]);
                        }
                }
                if constexpr (whole_mins) {
                    for (int t = 0; t < T; ++t)
                        for (int g = 0; g < G; ++g)
                            of_mins[g][t] = dot_pairs(of_mins[g][t], scales[g].mins[h],
                                                      times_sum<1>(sum_at(t)));
                } else if constexpr (S::has_min) {
                    F mins[G];
                    for (int g = 0; g < G; ++g) mins[g] = scales[g].min(h);
                    for (int t = 0; t < T; ++t)
                        for (int g = 0; g < G; ++g)
                            totals[g][t] = fma(mins[g], real_at(t, real_sums, k), totals[g][t]);
                }
            }
            if constexpr (whole_pairs) add_pairs(products, scales, whole);
        });
        for (int g = 0; g < G; ++g)
            for (int t = 0; t < T; ++t) {
                [[maybe_unused]] F& sum = of_block[g][t];
                if constexpr (most_whole > 0 || whole_pairs)
                    sum = fma(to_float(whole[g][t]), packed[g].scales(0).unit, sum);
                if constexpr (whole_mins)
                    sum = fma(to_float(of_mins[g][t]), packed[g].scales(0).min_unit, sum);
            }
        if constexpr (wide)
            for (int t = 0; t < T; ++t)
                for (int g = 0; g < G; ++g)
                    y[g][t] = fma(of_block[g][t], real_at(t, row.scales, b), y[g][t]);
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

// T tokens from `token` on, G packed groups.
template <int G, int T, typename Tile>
inline void run_tile(const Product& product, int64_t group, int64_t token, const uint8_t* weights,
                     Tile tile) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = token_row(product, token + t);
    F results[G][T];
    tile(weights, x, results);
    for (int g = 0; g < G; ++g) put<T>(product, group + g, token, results[g]);
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

// Where a product takes many instructions, some tokens are read for two groups at once: for as many
// as registers have room for sums.
template <class Type>
inline constexpr int64_t groups_together = (sums_in_halves && Type::by_quads) ? 2 : 1;
inline constexpr int least_together = 2, most_together = 4;  // tokens

template <class Type>
void multiply(const Product& product) {
    constexpr int most = lanes == 16 ? 8 : 6;
    const int64_t group_bytes = product.columns / Type::block * Type::bytes * lanes;
    auto each = [&]<int T>(int64_t group, int64_t groups, int64_t token, const uint8_t* weights) {
        auto of_groups = [&]<int G>(int64_t first) {
            run_tile<G, T>(product, group + first, token, weights + first * group_bytes,
                           [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[G][T]) {
                               tile<Type, G, T>(w, group_bytes, product.columns, x, y);
                           });
        };
        if constexpr (groups_together<Type> == 2 && T >= least_together && T <= most_together)
            if (groups == 2) return of_groups.template operator()<2>(0);
        for (int64_t g = 0; g < groups; ++g) of_groups.template operator()<1>(g);
    };
    for_tiles<most, groups_together<Type>>(product, group_bytes, each);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
