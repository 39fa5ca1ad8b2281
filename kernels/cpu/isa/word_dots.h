// Products of floating point types with many tokens, in tiles of a few groups of rows by a few
// tokens whose sums stay in registers while the columns of a panel pass. Rows and tokens are read
// in words of 4 bytes, one for every lane:
//
//     for (row r, token t, panel c) {
//         float sum = 0;
//         for (word k of c) sum = add_product(sum, row(r, k), x(t, k));
//         y = y + sum;
//     }
//
// A product of floats and its addition are rounded once, and those of a pair of bf16 as the
// instruction does it.
//
//     rows      [words][lanes], unpacked
//     tokens    [words / 16][16 tokens][16]
//
// A Type says what its words are:
//
//     in_word         columns of one: a float, or a pair of bf16
//     block, bytes    1, and of a packed element
//     unpack(weights, width, words)   of a group
//     add_product(sum, row, token)
#pragma once

#include "kernels/cpu/isa/panel_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <class Type>
struct WordDots {
    static constexpr int line = 16, words = 128;  // of a token side by side; of a panel
    // Three groups by eight take 24 of 32 registers for sums, three for rows and one for a token;
    // two by four take 8 of 16, two and one.
    static constexpr int groups = panel_groups, some_tokens = lanes == 16 ? 8 : 4;

    struct Panel {
        alignas(64) uint8_t words[WordDots::words * 4 * lanes];
    };
    struct Tile {
        int8_t lines[words / line][tile_tokens][4 * line];
    };
    static constexpr int64_t columns = words * Type::in_word, token_bytes = 4 / Type::in_word;
    static constexpr int64_t block = Type::block, bytes = Type::bytes;
    static constexpr int64_t asks = tile_tokens / some_tokens * words / line;

    static void unpack(const uint8_t* weights, int64_t width, Panel& panel) {
        Type::unpack(weights, width, panel.words);
    }

    template <typename Done>
    static void multiply(const Panel (&panels)[groups], const Tile& x, const Tile& next,
                         Ahead& ahead, int64_t width, int64_t tokens, float* y, Done done) {
        const int64_t count = (width + Type::in_word - 1) / Type::in_word;
        for (int first = 0; first < tokens; first += some_tokens) {
            for (const auto& lines : next.lines)
                for (int t = 0; t < some_tokens; ++t)
                    prefetch_near(reinterpret_cast<const uint8_t*>(lines[first + t]));
            multiply_some(panels, x, ahead, first, count, y + first * lanes);
            done(first, some_tokens);
        }
    }

    // The sums of a panel begin at zero, so that rounding does not add up over all columns.
    static void multiply_some(const Panel (&panels)[groups], const Tile& x, Ahead& ahead, int first,
                              int64_t count, float* y) {
        F sums[groups][some_tokens];
        each_result<groups, some_tokens>([&](int g, int t) { sums[g][t] = zero(); });
        for (int64_t at = 0; at < count; at += line) {
            ahead.ask();
            const uint8_t* rows = panels[0].words + at * 4 * lanes;
            const int8_t* words = x.lines[at / line][first];
            const int64_t left = count - at;
#pragma GCC unroll 1
            for (int64_t k = 0; k < (left < line ? left : line); ++k) {
                F row[groups];
                for (int g = 0; g < groups; ++g)
                    row[g] = load_f32(rows + k * 4 * lanes + g * sizeof(Panel));
                for (int t = 0; t < some_tokens; ++t) {
                    const F word = as_float(splat_quad(words + 4 * line * t + 4 * k));
                    for (int g = 0; g < groups; ++g)
                        sums[g][t] = Type::add_product(sums[g][t], row[g], word);
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
