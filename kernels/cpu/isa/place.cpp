// Tokens in the tiles that products with many tokens read.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

void place_of_256(const float* x, Q8Tile& tile, int token) {
    const BlockScale of(x, tile_columns);
    tile.scales[token] = of.scale;
    int16_t *sums16 = tile.sums16[token], *sums32 = tile.sums32[token];
    for (int i = 0; i < tile_columns / 64; ++i) {
        int8_t* codes = tile.codes[i][token];
        round_codes(x + 64 * i, 64, of.inverse, codes);
        each_sum16(codes, 64, [&](int64_t n, int32_t sum) { sums16[4 * i + n] = int16_t(sum); });
    }
    for (int n = 0; n < tile_columns / 32; ++n)
        sums32[n] = int16_t(sums16[2 * n] + sums16[2 * n + 1]);
}

void place_of_32(const float* x, int count, Q8Tile& tile, int token) {
    for (int n = 0; n < count; ++n) {
        const BlockScale of(x + 32 * n, 32);
        int8_t* codes = tile.codes[n / 2][token] + n % 2 * 32;
        round_codes(x + 32 * n, 32, of.inverse, codes);
        int32_t sum = 0;
        each_sum16(codes, 32, [&](int64_t, int32_t some) { sum += some; });
        tile.scales32[token][n] = of.scale;
        tile.sums32[token][n] = int16_t(sum);
        tile.real_sums32[token][n] = of.scale * float(sum);
    }
}

void clear(Q8Tile& tile, int token) {
    for (auto& codes : tile.codes) std::memset(codes[token], 0, sizeof codes[token]);
    auto zero_out = [&](auto& of) { std::memset(&of[token], 0, sizeof of[token]); };
    zero_out(tile.sums32), zero_out(tile.scales), zero_out(tile.sums16);
    zero_out(tile.scales32), zero_out(tile.real_sums32);
}

}  // namespace

void place(const float* row, int64_t columns, int64_t block, uint8_t* tiles, int token) {
    auto* tile = reinterpret_cast<Q8Tile*>(tiles);
    for (int64_t first = 0; first < columns; first += tile_columns, ++tile) {
        const int64_t left = columns - first;
        if (!row)
            clear(*tile, token);
        else if (block == 32)
            place_of_32(row + first, int(left < tile_columns ? left : tile_columns) / 32, *tile,
                        token);
        else
            place_of_256(row + first, *tile, token);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
