// Products of F16 and BF16 with many tokens by dot products of pairs of 16-bit integers, twice as
// fast as floats. Blocks of 32 weights and of 32 columns of a token have a scale; rounding to their
// codes takes less from a block than rounding to F16 would. Where a cut divides a block of columns,
// its parts round otherwise than the whole, by as little.
//
//     panel     pairs of codes [columns / 2][lanes][2], scales [columns / 32][lanes]
//     tokens    Q16Tiles
#pragma once

#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/q16_code.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Type::get(at) loads `lanes` weights.
template <class Type>
struct Q16Dots {
    using Tile = Q16Tile;
    static constexpr int64_t columns = q16_columns, token_bytes = 2;
    static constexpr int64_t block = 1, bytes = 2;
    static constexpr int some_tokens = 4, pairs = 16;  // of a block
    static constexpr int64_t asks = tile_tokens / some_tokens * columns / 32;

    struct Panel {
        alignas(64) uint8_t codes[columns * 2 * lanes];
        alignas(64) float scales[columns / 32][lanes];
    };

    static void unpack(const uint8_t* weights, int64_t width, Panel& panel) {
        auto get = [&](int64_t column) { return Type::get(weights + column * bytes * lanes); };
        if (width == columns) return encode(columns, get, panel);
        encode(
            width, [&](int64_t column) { return column < width ? get(column) : zero(); }, panel);
    }

    // All scales come first: a root and a quotient take long, but need not wait for one another.
    template <typename Number>
    [[gnu::always_inline]] static void encode(int64_t width, Number number, Panel& panel) {
        const int64_t blocks = (width + 31) / 32;
        F inverses[columns / 32];
        for (int64_t n = 0; n < blocks; ++n) {
            I most = splat(0);
            F squares[4] = {zero(), zero(), zero(), zero()};
#pragma GCC unroll 32
            for (int k = 0; k < 32; ++k) {
                const F x = number(n * 32 + k);
                most = max(most, as_int(abs(x)));
                squares[k % 4] = fma(x, x, squares[k % 4]);
            }
            const F sum = add(add(squares[0], squares[1]), add(squares[2], squares[3]));
            const Q16Scale of(as_float(most), sqrt(sum));
            store(panel.scales[n], of.scale);
            inverses[n] = of.inverse;
        }
        for (int64_t n = 0; n < blocks; ++n)
#pragma GCC unroll 16
            for (int64_t pair = n * pairs; pair < (n + 1) * pairs; ++pair) {
                const I even = q16_code(number(2 * pair), inverses[n]);
                const I odd = q16_code(number(2 * pair + 1), inverses[n]);
                store(panel.codes + pair * 4 * lanes, pair_of(even, odd));
            }
    }

    static void multiply(const Panel (&panels)[panel_groups], const Q16Tile& x, const Q16Tile& next,
                         Ahead& ahead, int64_t width, int64_t tokens, float* y) {
        for (int first = 0; first < tokens; first += some_tokens) {
            for (const auto& codes : next.codes)
                for (int t = 0; t < some_tokens; ++t)
                    prefetch_near(reinterpret_cast<const uint8_t*>(codes[first + t]));
            prefetch_near(reinterpret_cast<const uint8_t*>(next.scales[first]));
            multiply_some(panels, x, ahead, first, width, y + first * lanes);
        }
    }

    static void multiply_some(const Panel (&panels)[panel_groups], const Q16Tile& x, Ahead& ahead,
                              int first, int64_t width, float* y) {
        F totals[panel_groups][some_tokens];
        each_result<some_tokens>([&](int g, int t) { totals[g][t] = zero(); });
        for (int64_t n = 0; n * 32 < width; ++n) {
            ahead.ask();
            const uint8_t* rows = opaque(panels[0].codes + n * pairs * 4 * lanes);
            const auto* tokens = opaque(reinterpret_cast<const int8_t*>(x.codes[n][first]));
            I sums[panel_groups][some_tokens];
            each_result<some_tokens>([&](int g, int t) { sums[g][t] = splat(0); });
            multiply_words<pairs, sizeof(Panel)>(
                rows, tokens, sums, [](I sum, I row, I pair) { return dot_pairs(sum, row, pair); });
            const float* token_scales = opaque(x.scales[first] + n);
            each_result<some_tokens>([&](int g, int t) {
                const F scale =
                    mul(load_f32(panels[g].scales[n]), splat(token_scales[t * (q16_columns / 32)]));
                totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
            });
        }
        each_result<some_tokens>([&](int g, int t) {
            float* result = y + g * results + t * lanes;
            store(result, add(load_f32(result), totals[g][t]));
        });
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
