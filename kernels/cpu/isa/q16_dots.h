// Products of F16 and BF16 with many tokens by dot products of pairs of 16-bit integers, twice as
// fast as floats. Blocks of a row's weights and of a token's columns have a scale; rounding to
// their codes takes less from a product than rounding tokens to F16 would. They have 32 columns, or
// 128 of BF16 in variants that have crossed products (crossed.h): long ones take less time and
// round more, but far less than BF16 itself does. Where a cut divides a block, its parts round
// otherwise than the whole, by as little.
//
// Likewise those of signed codes of 8 bits, where no instruction adds up their products with bytes,
// and of types with so few levels that rounding tokens to 8 bits would be most of their error.
//
//     for (row r, token t, panel c) {
//         float total = 0;
//         for (block b of c) {             // code = round(number / scale), halves to even
//             int sum = 0;                 // has room for the products of any two blocks
//             for (column k of b) sum += code(r, k) * x.code(t, k);
//             total = fma(float(sum), scale(r, b) * x.scale(t, b), total);
//         }
//         y = y + total;
//     }
//
// Scales of rows of F16 and BF16 are powers of two, so that their products with others are exact.
//
//     panel     pairs of codes [columns / 2][lanes][2]
//               scales [blocks][lanes]: exponents to be added, or floats
//               nan_or_zero [lanes]: no number where a weight is none
//               begins [blocks][lanes]: of sums, where products are crossed
//     tokens    Q16Tiles
#pragma once

#include "kernels/cpu/isa/crossed.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/float_group.h"
#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Type::get(at) loads `lanes` weights of Type::bytes each. Type::least is the least magnitude but
// zero where they have few exponents, else 0; Type::q16_block is 32, or 128 for BF16. Or a Type of
// codes with scales of 32 (weight_type.h).
template <class Type>
struct Q16Dots {
    using Tile = Q16Tile;
    using Tokens = Tile;
    static const Tokens& tokens_of(const Tile& tile) { return tile; }
    static constexpr int64_t columns = q16_columns, token_bytes = 2;
    using Weights = Type;
    static constexpr int64_t block = Type::block, bytes = Type::bytes;
    // As many sums and totals as panel_walk.h counts.
    static constexpr int groups = groups_of<Type>, some_tokens = 4, pairs = q16_pairs;
    static constexpr int64_t asks = tile_tokens / some_tokens * columns / 32;
    static constexpr int q16_block = [] {
        if constexpr (requires { Type::q16_block; }) return Type::q16_block;
        return 32;
    }();
    static constexpr int blocks = columns / q16_block;
    static constexpr bool has_codes = requires { typename Type::Scales; };
    // Whether exponents of rows can be added to those of tokens: where they are not too small.
    static constexpr bool adds_exponents = [] {
        if constexpr (requires { Type::least; }) return Type::least > 0;
        return false;
    }();
    static constexpr bool crossed = is_adding<Type>;
    using Sums = I[groups][some_tokens];
    using Totals = F[groups][some_tokens];

    struct Panel {
        alignas(64) uint8_t codes[columns * 2 * lanes];
        alignas(64) uint8_t scales[blocks][4 * lanes];
        alignas(64) float nan_or_zero[lanes];
        alignas(64) uint8_t begins[blocks][4 * lanes];
    };

    static void unpack(const uint8_t* group, int64_t column, int64_t width, Panel& panel) {
        if constexpr (has_codes) {
            unpack_codes(column_at<Type>(group, column), width, panel);
        } else {
            const FloatGroup packed(group);
            if (!packed.is_short())
                return unpack_floats<Type>(Type::at(group, column), width, panel);
            alignas(64) float room[columns * lanes];
            packed.lengthen(column, width, room);
            unpack_floats<Lengthened>(reinterpret_cast<const uint8_t*>(room), width, panel);
        }
    }

    static void unpack_codes(const uint8_t* weights, int64_t width, Panel& panel) {
        static_assert(Type::Scales::count == 1 && !Type::Scales::has_min);
        static_assert(columns % block == 0);
        store(panel.nan_or_zero, zero());  // a scale that is no number says so itself
        for (int64_t b = 0; b < width / block; ++b) {
            const Type packed{weights + b * bytes * lanes};
            each_run<Type, true>([&](int run) [[gnu::always_inline]] {
                const int64_t n = b * (block / 32) + run;
                const auto codes = packed.codes(run);
                store(panel.scales[n], as_int(packed.scales(run).scale(0)));
                I sum = splat(0);
                for (int quad = 0; quad < 8; ++quad) {
                    uint8_t* const to = panel.codes + (n * pairs + 2 * quad) * 4 * lanes;
                    const I even = code_pair<0>(codes(quad)), odd = code_pair<2>(codes(quad));
                    store(to, even);
                    store(to + 4 * lanes, odd);
                    if (crossed && 2 * quad < crossed_pairs) sum = dot_pairs(sum, even, odd);
                }
                if constexpr (crossed) store(panel.begins[n], minus(sum));
            });
        }
    }

    // Two codes of a quad as numbers in the halves of lanes, less that of 0.0.
    template <int first>
    [[gnu::always_inline]] static I code_pair(I quad) {
        if constexpr (Type::is_signed) return signed_pair<first>(quad);
        const I two = first == 0 ? quad : shift_right(quad, 16);
        const I apart =
            bit_or(bit_and(two, splat(0xff)), shift_left(bit_and(two, splat(0xff00)), 8));
        return add_in_halves(apart, splat(in_both_halves(-Type::zero)));
    }

    template <class Of>
    static void unpack_floats(const uint8_t* weights, int64_t width, Panel& panel) {
        auto get = [&](int64_t column) { return Of::get(weights + column * Of::bytes * lanes); };
        if (width == columns) return encode<Of>(weights, columns, get, panel);
        encode<Of>(
            weights, width, [&](int64_t column) { return column < width ? get(column) : zero(); },
            panel);
    }

    // All scales come first: they take long, but need not wait for one another.
    template <class Of, typename Number>
    [[gnu::always_inline]] static void encode(const uint8_t* weights, int64_t width, Number number,
                                              Panel& panel) {
        F inverses[blocks], nan_or_zero = zero();
        for (int n = 0; n * q16_block < width; ++n) {
            F most, squares;
            if constexpr (q16_block == 32)
                measure([&](int k) { return number(n * 32 + k); }, most, squares);
            else
                measure<Of>(weights, width, most, squares);
            const F needed = max(squares, splat(Type::least * Type::least));
            const Q16Power power = crosses ? Q16Power::of_crossed(needed, most) : Q16Power(needed);
            store(panel.scales[n], adds_exponents ? power.exponent : as_int(power.scale()));
            inverses[n] = power.inverse;
            nan_or_zero = fma(squares, zero(), nan_or_zero);
        }
        store(panel.nan_or_zero, nan_or_zero);
        for (int64_t n = 0; n * q16_block < width; ++n) {
            I sum = splat(0), before = splat(0);
            for (int64_t first = n * q16_block; first < (n + 1) * q16_block && first < width;
                 first += 32)
#pragma GCC unroll 16
                for (int pair = 0; pair < pairs; ++pair) {
                    const I even = q16_code(number(first + 2 * pair), inverses[n]);
                    const I odd = q16_code(number(first + 2 * pair + 1), inverses[n]);
                    const I codes = pair_of(even, odd);
                    store(panel.codes + (first / 2 + pair) * 4 * lanes, codes);
                    if (crossed && pair % 2 == 1 && pair < crossed_pairs)
                        sum = dot_pairs(sum, before, codes);
                    before = codes;
                }
            if constexpr (crossed) store(panel.begins[n], minus(sum));
        }
    }

    // The largest magnitudes of 32 columns, and the sums of squares.
    template <typename Number>
    [[gnu::always_inline]] static void measure(Number number, F& most, F& squares) {
        F parts[4] = {zero(), zero(), zero(), zero()}, most_of[2] = {zero(), zero()};
#pragma GCC unroll 32
        for (int k = 0; k < 32; ++k) {
            const F x = number(k);
            parts[k % 4] = fma(x, x, parts[k % 4]);
            if constexpr (crosses) most_of[k % 2] = larger(most_of[k % 2], abs(x));
        }
        most = larger(most_of[0], most_of[1]);
        squares = add(add(parts[0], parts[1]), add(parts[2], parts[3]));
    }

    // Those of a longer block, whose squares are taken to be as large as the largest: codes of BF16
    // have bits to spare. Magnitudes are in the order of their bits.
    template <class Of>
    static void measure(const uint8_t* weights, int64_t width, F& most, F& squares) {
        constexpr int step = 4 / Of::bytes;  // columns of a vector
        I magnitudes = splat(0);
        for (int64_t k = 0; k + step <= width; k += step)
            magnitudes = max_in_halves(
                magnitudes, bit_and(load(weights + k * Of::bytes * lanes), splat(0x7fff7fff)));
        alignas(64) uint8_t some[4 * lanes];
        store(some, magnitudes);
        most = larger(Of::get(some), Of::get(some + (step - 1) * Of::bytes * lanes));
        if (width % step)
            most = larger(most, abs(Of::get(weights + (width - 1) * Of::bytes * lanes)));
        squares = mul(mul(most, most), splat(float(q16_block)));
    }

    static void prefetch(const Tile& tile, int first) {
        for (const auto& codes : tile.codes)
            for (int t = 0; t < some_tokens; ++t)
                prefetch_near(reinterpret_cast<const uint8_t*>(codes[first + t]));
        prefetch_near(reinterpret_cast<const uint8_t*>(tile.scales[first]));
        if (crossed) prefetch_near(reinterpret_cast<const uint8_t*>(tile.crossed[first]));
    }

    static void multiply(const Pass<Q16Dots>& pass, int first, int64_t, float* y) {
        const auto& panels = pass.panels;
        const Tile& x = pass.tokens;
        Totals totals;
        each_result<groups, some_tokens>([&](int g, int t) {
            totals[g][t] = add(load_f32(panels[g].nan_or_zero), splat(x.nan_or_zero[first + t]));
        });
        for (int64_t column = 0, n = 0; column < pass.width; column += q16_block, ++n) {
            Sums sums;
            const uint8_t* of_rows = opaque(panels[0].begins[n]);
            const int32_t* of_tokens = opaque(x.crossed[first] + n);
            each_result<groups, some_tokens>([&](int g, int t) {
                sums[g][t] = crossed ? add(load(of_rows + g * sizeof(Panel)),
                                           splat(of_tokens[t * (q16_columns / 32)]))
                                     : splat(0);
            });
            add_products(pass, first, column, sums);
            for (int64_t k = column + 32; k < column + q16_block && k < pass.width; k += 32)
                add_products(pass, first, k, sums);
            add_scaled(opaque(panels[0].scales[n]), opaque(x.scales[first] + n), sums, totals);
        }
        each_result<groups, some_tokens>([&](int g, int t) {
            float* result = y + g * result_floats + t * lanes;
            store(result, add(load_f32(result), totals[g][t]));
        });
    }

    // Adds those of 32 columns.
    [[gnu::always_inline]] static void add_products(const Pass<Q16Dots>& pass, int first,
                                                    int64_t column, Sums& sums) {
        constexpr int crossed_words = crossed ? crossed_pairs : 0;
        pass.ahead.ask();
        const uint8_t* rows = opaque(pass.panels[0].codes + column * 2 * lanes);
        const auto* tokens =
            opaque(reinterpret_cast<const int8_t*>(pass.tokens.codes[column / 32][first]));
        auto dot_words = [](I sum, I row, I pair) { return in_order(dot_pairs(sum, row, pair)); };
        multiply_crossed<crossed_words, sizeof(Panel)>(rows, tokens, sums, add_in_halves,
                                                       dot_words);
        multiply_words<pairs - crossed_words, sizeof(Panel)>(
            rows + crossed_words * 4 * lanes, tokens + crossed_words * 4, sums, dot_words);
    }

    // Adds sums of a block, each times the scales of its row and its token, to totals.
    [[gnu::always_inline]] static void add_scaled(const uint8_t* rows, const float* tokens,
                                                  const Sums& sums, Totals& totals) {
#pragma GCC unroll 8
        for (int t = 0; t < some_tokens; ++t) {
            const F token = splat(tokens[t * (q16_columns / 32)]);
#pragma GCC unroll 8
            for (int g = 0; g < groups; ++g) {
                const I row = load(rows + g * sizeof(Panel));
                const F scale =
                    adds_exponents ? as_float(add(row, as_int(token))) : mul(as_float(row), token);
                totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
            }
        }
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
