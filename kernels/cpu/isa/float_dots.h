// Products of floating point types with many tokens, in tiles of a few groups of rows by a few
// tokens whose sums stay in registers while the columns of a panel pass. All are floats:
//
//     for (row r, token t, panel c) {
//         float sum = 0;
//         for (column k of c) sum = fma(weight(r, k), x(t, k), sum);
//         y = y + sum;
//     }
//
//     rows      [columns][lanes], unpacked
//     tokens    [columns / 16][16 tokens][16]
//
// Type::get(at) loads `lanes` weights of Type::bytes each.
#pragma once

#include "kernels/cpu/isa/float_group.h"
#include "kernels/cpu/isa/panel_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <class Type>
struct FloatDots {
    static constexpr int line = 16;  // columns of a token side by side
    static constexpr int64_t columns = 128, token_bytes = 4;
    using Weights = Type;
    // Three groups by eight take 24 of 32 registers for sums, three for rows and one for a token;
    // two by four take 8 of 16, two and one.
    static constexpr int groups = panel_groups, some_tokens = lanes == 16 ? 8 : 4;

    struct Panel {
        alignas(64) float rows[FloatDots::columns * lanes];
    };
    struct Tile {
        float lines[columns / line][tile_tokens][line];
    };
    using Tokens = Tile;
    static const Tokens& tokens_of(const Tile& tile) { return tile; }
    static constexpr int64_t asks = tile_tokens / some_tokens * columns / line;

    static void unpack(const uint8_t* group, int64_t column, int64_t width, Panel& panel) {
        const FloatGroup packed(group);
        if (packed.is_short()) return packed.lengthen(column, width, panel.rows);
        const uint8_t* const weights = Type::at(group, column);
        for (int64_t k = 0; k < width; ++k)
            store(panel.rows + k * lanes, Type::get(weights + k * Type::bytes * lanes));
    }

    static void prefetch(const Tile& tile, int first) {
        for (const auto& lines : tile.lines)
            for (int t = 0; t < some_tokens; ++t)
                prefetch_near(reinterpret_cast<const uint8_t*>(lines[first + t]));
    }

    // The sums of a panel begin at zero, so that rounding does not add up over all columns.
    static void multiply(const Pass<FloatDots>& pass, int first, int64_t, float* y) {
        F sums[groups][some_tokens];
        each_result<groups, some_tokens>([&](int g, int t) { sums[g][t] = zero(); });
        for (int64_t at = 0; at < pass.width; at += line) {
            pass.ahead.ask();
            const float* rows = pass.panels[0].rows + at * lanes;
            const float* of_tokens = pass.tokens.lines[at / line][first];
            const int64_t left = pass.width - at;
#pragma GCC unroll 1
            for (int64_t k = 0; k < (left < line ? left : line); ++k) {
                F row[groups];
                for (int g = 0; g < groups; ++g)
                    row[g] = load_f32(rows + k * lanes + g * (sizeof(Panel) / sizeof(float)));
                for (int t = 0; t < some_tokens; ++t) {
                    const F token = splat(of_tokens[line * t + k]);
                    for (int g = 0; g < groups; ++g) sums[g][t] = fma(row[g], token, sums[g][t]);
                }
            }
        }
        each_result<groups, some_tokens>([&](int g, int t) {
            float* result = y + g * result_floats + t * lanes;
            store(result, add(load_f32(result), sums[g][t]));
        });
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
