// Tokens in tiles of 16-bit integers, as products with many tokens of some types read them:
//
//     for (block b of 32 or 128 columns) {
//         float most = max of |x[k]|, length = most * sqrt(sum of (x[k] / most)^2);
//         scale = what keeps the largest code and the length of all in 16 bits (q16_code.h);
//         for (column k of b) code[k] = round(x[k] / scale);       // halves to even
//     }
#include <array>

#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Of the first so many columns, in such blocks.
template <int block>
void cross_codes(Q16Tile& tile, int64_t columns, int token) {
    if constexpr (crosses) {
        alignas(64) static constexpr auto crossed_words = [] {
            std::array<int32_t, q16_pairs> masks = {};
            for (int pair = 0; pair < crossed_pairs; ++pair) masks[size_t(pair)] = -1;
            return masks;
        }();
        auto codes = [&](int n) {
            if (32 * n >= columns) return splat(0);
            return bit_and(load(reinterpret_cast<const uint8_t*>(tile.codes[n][token])),
                           load(reinterpret_cast<const uint8_t*>(crossed_words.data())));
        };
        auto products = [&](int n) {
            return dot_neighbours(codes(n), codes(n + 1),
                                  [](I even, I odd) { return dot_pairs(splat(0), even, odd); });
        };
        // Lanes have the products of columns from 0, 32, 0, 32 ... and 64, 96, 64, 96 ... on.
        const I first = minus(products(0)), last = minus(products(2));
        if constexpr (block == 32) {
            const I twice = add_neighbours<2>(first, last);
            const I fourfold = add_neighbours<4>(twice, twice);
            alignas(64) int32_t sums[lanes];
            store(reinterpret_cast<uint8_t*>(sums), add_neighbours<lanes / 2>(fourfold, fourfold));
            for (int n = 0; n < q16_columns / 32; ++n) tile.crossed[token][n] = sums[n];
        } else {
            tile.crossed[token][0] = sum(add(first, last));
        }
    }
}

// 256 columns, of which the first `count` are in tiles, in such blocks.
template <int block>
void place_integers(const float* x, int64_t count, Q16Tile* tiles, int token) {
    constexpr int parts = tile_columns / block, lanes_of_part = lanes / parts;
    F most_of[parts], squares_of[parts];
    for (F& of_part : most_of) of_part = zero();
    for (int at = 0; at < tile_columns; at += lanes) {
        F& of_part = most_of[at / block];
        of_part = larger(of_part, abs(load_f32(x + at)));
    }
    const F most = join_rows<parts>(most_of, larger);
    alignas(64) float units[lanes];
    store(units, unit_of(most));
    for (F& of_part : squares_of) of_part = zero();
    for (int at = 0; at < tile_columns; at += lanes) {
        F& of_part = squares_of[at / block];
        of_part = add_square(of_part, load_f32(x + at), splat(units[at / block * lanes_of_part]));
    }
    const F squares = join_rows<parts>(squares_of, [](F a, F b) { return add(a, b); });
    const Q16Scale scale = Q16Scale::of_token(most, length_of(most, squares));
    alignas(64) float scales[lanes], inverses[lanes];
    store(scales, scale.value);
    store(inverses, scale.inverse);
    for (int64_t k = 0; k < count; k += q16_columns) tiles[k / q16_columns].nan_or_zero[token] = 0;
    for (int64_t k = 0; k < count; k += 32) {
        Q16Tile& tile = tiles[k / q16_columns];
        const int64_t column = k % q16_columns, lane = k / block * lanes_of_part;
        for (int i = 0; i < 32; i += lanes)
            store_halves(tile.codes[column / 32][token] + i,
                         q16_code(load_f32(x + k + i), splat(inverses[lane])));
        tile.scales[token][column / block] = scales[lane];
        tile.nan_or_zero[token] += 0 * scales[lane];
    }
    for (int64_t k = 0; k < count; k += q16_columns)
        cross_codes<block>(tiles[k / q16_columns], count - k, token);
}

}  // namespace

void place_q16(const float* row, int64_t columns, int64_t block, uint8_t* tiles, int token) {
    auto* tile = reinterpret_cast<Q16Tile*>(tiles);
    for (int64_t first = 0; first < columns; first += tile_columns) {
        const int64_t left = columns - first;
        const bool whole = left >= tile_columns;
        const int64_t count = whole ? tile_columns : (left + 31) / 32 * 32;
        float filled_up[tile_columns] = {};
        if (row && !whole) std::memcpy(filled_up, row + first, size_t(left) * sizeof(float));
        const float* const x = row && whole ? row + first : filled_up;
        Q16Tile* const to = tile + first / q16_columns;
        if (block == 32)
            place_integers<32>(x, count, to, token);
        else
            place_integers<q16_columns>(x, count, to, token);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
