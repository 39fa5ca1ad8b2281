// Tokens in int8 tiles, as products with many tokens read them: rounded as quantize.h does it, then
// put in the order of their tile, with the sums of codes.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Puts codes of a token's 256 columns at their tile_place().
void order_codes(Q8Tile& tile, int token) {
    if (!sums_in_halves) return;
    for (auto& codes : tile.codes)
        for (int first = 0; first < 64; first += 32) {
            int16_t pairs[16], placed[16];
            std::memcpy(pairs, codes[token] + first, sizeof pairs);
            for (int n = 0; n < 16; ++n) placed[tile_place(2 * n, true) / 2] = pairs[n];
            std::memcpy(codes[token] + first, placed, sizeof placed);
        }
}

// Sums of a token's 256 codes.
void sum_codes(Q8Tile& tile, int token) {
    int16_t *sums16 = tile.sums16[token], *sums32 = tile.sums32[token];
    each_sums16([&](int column) { return tile.codes[column / 64][token]; },
                [](I codes) { return codes; },
                [&](int first, I sums) { store_halves(sums16 + first, sums); });
    for (int n = 0; n < tile_columns / 32; ++n)
        sums32[n] = int16_t(sums16[2 * n] + sums16[2 * n + 1]);
}

// What sums of a token's crossed products begin with, of each 32 columns, where codes are small.
template <int largest>
void cross_codes(Q8Tile& tile, int token) {
    if constexpr (largest == largest_small_code) {
        auto products = [&](int n) {
            auto codes = [&](int v) {
                return load(reinterpret_cast<const uint8_t*>(tile.codes[v][token]));
            };
            return dot_neighbours(codes(n), codes(n + 1), [](I even, I odd) {
                return dot(splat(0), bit_xor(odd, splat_bytes(0x80)), even);
            });
        };
        // Lanes of each half of a vector have blocks 0 2 0 2 ... and 4 6 4 6 ..., or 1 3 and 5 7.
        const I twice = add_neighbours<2>(products(0), products(2));
        alignas(64) int32_t sums[lanes];
        store(reinterpret_cast<uint8_t*>(sums), minus(add_neighbours<4>(twice, twice)));
        for (int n = 0; n < tile_columns / 32; ++n)
            tile.crossed32[token][n] = sums[n / 2 + n % 2 * (lanes / 2)];
    }
}

template <int largest>
void place_of_256(const float* x, Q8Tile& tile, int token) {
    tile.scales[token] =
        round_256(x, largest, [&](int column) { return tile.codes[column / 64][token]; });
    sum_codes(tile, token);
    cross_codes<largest>(tile, token);
    order_codes(tile, token);
}

constexpr int blocks = tile_columns / 32;
static_assert(blocks == scaled_blocks);

// Of the blocks of a token's 256 columns: what codes are made with, and what makes their sums real.
struct Scales32 {
    float inverses[blocks], scales[blocks];
};

// With the scales of rows (quantize.cpp), but for least_part.
template <int largest>
Scales32 scale_by_32(const float* x, Q8Tile& tile, int token) {
    const F most = largest_of_blocks(x);
    const float of_token = largest_float(as_int(most));
    const F token_power = power_for(splat(of_token), largest);
    const F powers = max(power_for(most, largest), mul(token_power, splat(least_part)));
    const SteppedScale scale(powers, most, largest);
    const I exponent = add(as_int(powers), minus(as_int(token_power)));
    alignas(64) int32_t origins[lanes], steps[lanes];
    alignas(64) float inverses[lanes], scales[lanes], token_powers[lanes];
    store(reinterpret_cast<uint8_t*>(origins), add(as_int(splat(first_origin)), exponent));
    store(reinterpret_cast<uint8_t*>(steps), scale.steps);
    store(inverses, scale.inverse);
    store(scales, as_float(add(as_int(scale.below), exponent)));
    store(token_powers, token_power);
    // What is infinite or no number spoils all of the token.
    tile.scales[token] = is_finite(of_token) ? token_powers[0] : of_token;
    Scales32 result;
    for (int n = 0; n < blocks; ++n) {
        const int lane = n * lanes_of_block;
        tile.origins32[token][n] = origins[lane];
        tile.steps32[token][n] = uint8_t(steps[lane]);
        result.inverses[n] = inverses[lane];
        result.scales[n] = scales[lane];
    }
    return result;
}

template <int largest>
void round_by_32(const float* x, const Scales32& scales, Q8Tile& tile, int token) {
    for (int n = 0; n < blocks; ++n)
        round_codes(x + 32 * n, 32, scales.inverses[n], tile.codes[n / 2][token] + n % 2 * 32);
    sum_codes(tile, token);
    cross_codes<largest>(tile, token);
    for (int n = 0; n < blocks; ++n)
        tile.real_sums32[token][n] = float(tile.sums32[token][n]) * scales.scales[n];
    order_codes(tile, token);
}

// Scales come first: they take long, but need not wait for one another.
template <int largest>
void place_by_32(const float* x, int64_t count, Q8Tile* tiles, int token) {
    constexpr int64_t most = 8;
    Scales32 scales[most];
    for (int64_t first = 0; first < count; first += most) {
        const int64_t last = first + most < count ? first + most : count;
        for (int64_t n = first; n < last; ++n)
            scales[n - first] = scale_by_32<largest>(x + n * tile_columns, tiles[n], token);
        for (int64_t n = first; n < last; ++n)
            round_by_32<largest>(x + n * tile_columns, scales[n - first], tiles[n], token);
    }
}

void clear(Q8Tile& tile, int token) {
    for (auto& codes : tile.codes) std::memset(codes[token], 0, sizeof codes[token]);
    auto zero_out = [&](auto& field) { std::memset(&field[token], 0, sizeof field[token]); };
    zero_out(tile.sums32), zero_out(tile.scales), zero_out(tile.sums16);
    zero_out(tile.origins32), zero_out(tile.steps32), zero_out(tile.real_sums32);
    zero_out(tile.crossed32);
}

template <int largest>
void place_codes(const float* row, int64_t columns, int64_t block, uint8_t* tiles, int token) {
    auto* tile = reinterpret_cast<Q8Tile*>(tiles);
    const int64_t count = (columns + tile_columns - 1) / tile_columns,
                  left = columns % tile_columns;
    if (!row)
        for (int64_t n = 0; n < count; ++n) clear(tile[n], token);
    else if (block == 256)
        for (int64_t n = 0; n < count; ++n)
            place_of_256<largest>(row + n * tile_columns, tile[n], token);
    else {
        place_by_32<largest>(row, columns / tile_columns, tile, token);
        if (left == 0) return;
        float filled_up[tile_columns] = {};
        std::memcpy(filled_up, row + columns - left, size_t(left) * sizeof(float));
        place_by_32<largest>(filled_up, 1, tile + count - 1, token);
    }
}

}  // namespace

void place(const float* row, int64_t columns, int64_t block, uint8_t* tiles, int token) {
    place_codes<largest_code>(row, columns, block, tiles, token);
}

Place* const place_small = [] {
    Place* small = nullptr;
    if constexpr (crosses) small = place_codes<largest_small_code>;
    return small;
}();

}  // namespace tandem::kernels::cpu::TANDEM_ISA
