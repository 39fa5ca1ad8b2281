// Products of F16 and BF16 with many tokens by dot products of pairs of 16-bit integers, twice as
// fast as floats. Blocks of 32 weights and of 32 columns of a token have a scale; rounding to their
// codes takes less from a block than rounding to F16 would. Where a cut divides a block of columns,
// its parts round otherwise than the whole, by as little.
//
// Likewise those of signed codes of 8 bits, where no instruction adds up their products with bytes.
//
//     panel     pairs of codes [columns / 2][lanes][2]
//               scales [columns / 32][lanes]: exponents to be added, or floats
//               nothing [lanes]: 0, or no number where a weight is none
//               begins [columns / 32][lanes]: of sums, where products are crossed (crossed.h)
//     tokens    Q16Tiles
#pragma once

#include "kernels/cpu/isa/crossed.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/q16_code.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Type::get(at) loads `lanes` weights. Type::least is the least magnitude but zero where they have
// few exponents, else 0. Or a Type of blocks of 32 signed codes and a scale (matrix.h).
template <class Type>
struct Q16Dots {
    using Tile = Q16Tile;
    static constexpr int64_t columns = q16_columns, token_bytes = 2;
    static constexpr int64_t block = Type::block, bytes = Type::bytes;
    static constexpr int some_tokens = 4, pairs = q16_pairs;
    static constexpr int64_t asks = tile_tokens / some_tokens * columns / 32;
    // Whether exponents of rows can be added to those of tokens: where they are not too small.
    static constexpr bool adds_exponents = [] {
        if constexpr (requires { Type::least; }) return Type::least > 0;
        return false;
    }();
    static constexpr bool crossed = is_crossed<Type>;
    using Sums = I[panel_groups][some_tokens];
    using Totals = F[panel_groups][some_tokens];

    struct Panel {
        alignas(64) uint8_t codes[columns * 2 * lanes];
        alignas(64) uint8_t scales[columns / 32][4 * lanes];
        alignas(64) float nothing[lanes];
        alignas(64) uint8_t begins[columns / 32][4 * lanes];
    };

    static void unpack(const uint8_t* weights, int64_t width, Panel& panel) {
        if constexpr (block == 32)
            unpack_codes(weights, width, panel);
        else
            unpack_floats(weights, width, panel);
    }

    static void unpack_codes(const uint8_t* weights, int64_t width, Panel& panel) {
        store(panel.nothing, zero());  // a scale that is no number says so itself
        for (int64_t n = 0; n < width / 32; ++n) {
            const Type packed{weights + n * bytes * lanes};
            const auto codes = packed.codes(0);
            store(panel.scales[n], as_int(packed.scales(0).scale(0)));
            for (int quad = 0; quad < 8; ++quad) {
                uint8_t* const to = panel.codes + (n * pairs + 2 * quad) * 4 * lanes;
                store(to, signed_pair<0>(codes(quad)));
                store(to + 4 * lanes, signed_pair<2>(codes(quad)));
            }
        }
    }

    static void unpack_floats(const uint8_t* weights, int64_t width, Panel& panel) {
        auto get = [&](int64_t column) { return Type::get(weights + column * bytes * lanes); };
        if (width == columns) return encode(columns, get, panel);
        encode(
            width, [&](int64_t column) { return column < width ? get(column) : zero(); }, panel);
    }

    // All scales come first: they take long, but need not wait for one another.
    template <typename Number>
    [[gnu::always_inline]] static void encode(int64_t width, Number number, Panel& panel) {
        const int64_t blocks = (width + 31) / 32;
        F inverses[columns / 32], nothing = zero();
        for (int64_t n = 0; n < blocks; ++n) {
            F squares[4] = {zero(), zero(), zero(), zero()}, most[2] = {zero(), zero()};
#pragma GCC unroll 32
            for (int k = 0; k < 32; ++k) {
                const F x = number(n * 32 + k);
                squares[k % 4] = fma(x, x, squares[k % 4]);
                if constexpr (crosses) most[k % 2] = larger(most[k % 2], abs(x));
            }
            const F sum = add(add(squares[0], squares[1]), add(squares[2], squares[3]));
            const F squares_needed = max(sum, splat(Type::least * Type::least));
            const Q16Power of = crosses
                                    ? Q16Power::of_crossed(squares_needed, larger(most[0], most[1]))
                                    : Q16Power(squares_needed);
            store(panel.scales[n], adds_exponents ? of.exponent : as_int(of.scale()));
            inverses[n] = of.inverse;
            nothing = fma(sum, zero(), nothing);
        }
        store(panel.nothing, nothing);
        for (int64_t n = 0; n < blocks; ++n) {
            I sum = splat(0), before = splat(0);
#pragma GCC unroll 16
            for (int64_t pair = n * pairs; pair < (n + 1) * pairs; ++pair) {
                const I even = q16_code(number(2 * pair), inverses[n]);
                const I odd = q16_code(number(2 * pair + 1), inverses[n]);
                const I codes = pair_of(even, odd);
                store(panel.codes + pair * 4 * lanes, codes);
                if (crossed && pair % 2 == 1 && pair % pairs < crossed_pairs)
                    sum = dot_pairs(sum, before, codes);
                before = codes;
            }
            if constexpr (crossed) store(panel.begins[n], minus(sum));
        }
    }

    template <typename Done>
    static void multiply(const Panel (&panels)[panel_groups], const Q16Tile& x, const Q16Tile& next,
                         Ahead& ahead, int64_t width, int64_t tokens, float* y, Done done) {
        for (int first = 0; first < tokens; first += some_tokens) {
            for (const auto& codes : next.codes)
                for (int t = 0; t < some_tokens; ++t)
                    prefetch_near(reinterpret_cast<const uint8_t*>(codes[first + t]));
            prefetch_near(reinterpret_cast<const uint8_t*>(next.scales[first]));
            if (crossed) prefetch_near(reinterpret_cast<const uint8_t*>(next.crossed[first]));
            multiply_some(panels, x, ahead, first, width, y + first * lanes);
            done(first, some_tokens);
        }
    }

    static void multiply_some(const Panel (&panels)[panel_groups], const Q16Tile& x, Ahead& ahead,
                              int first, int64_t width, float* y) {
        Totals totals;
        each_result<some_tokens>([&](int g, int t) {
            totals[g][t] = add(load_f32(panels[g].nothing), splat(x.nothing[first + t]));
        });
        for (int64_t n = 0; n * 32 < width; ++n) {
            ahead.ask();
            const uint8_t* rows = opaque(panels[0].codes + n * pairs * 4 * lanes);
            const auto* tokens = opaque(reinterpret_cast<const int8_t*>(x.codes[n][first]));
            Sums sums;
            auto dot_words = [](I sum, I row, I pair) { return dot_pairs(sum, row, pair); };
            if constexpr (crossed) {
                const uint8_t* of_rows = opaque(panels[0].begins[n]);
                const int32_t* of_tokens = opaque(x.crossed[first] + n);
                each_result<some_tokens>([&](int g, int t) {
                    sums[g][t] = add(load(of_rows + g * sizeof(Panel)),
                                     splat(of_tokens[t * (q16_columns / 32)]));
                });
                multiply_crossed<crossed_pairs, sizeof(Panel)>(rows, tokens, sums, add_in_halves,
                                                               dot_words);
                multiply_words<pairs - crossed_pairs, sizeof(Panel)>(
                    rows + crossed_pairs * 4 * lanes, tokens + crossed_pairs * 4, sums, dot_words);
            } else {
                each_result<some_tokens>([&](int g, int t) { sums[g][t] = splat(0); });
                multiply_words<pairs, sizeof(Panel)>(rows, tokens, sums, dot_words);
            }
            add_scaled(opaque(panels[0].scales[n]), opaque(x.scales[first] + n), sums, totals);
        }
        each_result<some_tokens>([&](int g, int t) {
            float* result = y + g * results + t * lanes;
            store(result, add(load_f32(result), totals[g][t]));
        });
    }

    // Adds sums of a block, each times the scales of its row and its token, to totals.
    [[gnu::always_inline]] static void add_scaled(const uint8_t* rows, const float* tokens,
                                                  const Sums& sums, Totals& totals) {
#pragma GCC unroll 8
        for (int t = 0; t < some_tokens; ++t) {
            const F token = splat(tokens[t * (q16_columns / 32)]);
#pragma GCC unroll 8
            for (int g = 0; g < panel_groups; ++g) {
                const I row = load(rows + g * sizeof(Panel));
                const F scale =
                    adds_exponents ? as_float(add(row, as_int(token))) : mul(as_float(row), token);
                totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
            }
        }
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
