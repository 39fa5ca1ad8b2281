// Activations in tiles of 16-bit integers.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/q16_dots.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

void place_q16(const float* row, int64_t columns, uint8_t* tiles, int token) {
    auto* tile = reinterpret_cast<Q16Tile*>(tiles);
    for (int64_t first = 0; first < columns; first += 32) {
        float block[32] = {};
        const int64_t left = columns - first;
        if (row) std::memcpy(block, row + first, size_t(left < 32 ? left : 32) * sizeof(float));
        const float most = largest_magnitude(block, 32);
        // Squares of numbers up to 1 are not too large.
        const F inverse = splat(most > Q16Scale::least ? 1 / most : 0);
        F squares = zero();
        for (int i = 0; i < 32; i += lanes) {
            const F x = mul(load_f32(block + i), inverse);
            squares = fma(x, x, squares);
        }
        const Q16Scale of(splat(most), mul(splat(most), sqrt(spread_sum(squares))));
        Q16Tile& at = tile[first / q16_columns];
        const int64_t n = first % q16_columns / 32;
        for (int i = 0; i < 32; i += lanes)
            store_halves(at.codes[n][token] + i, of.code(load_f32(block + i)));
        at.scales[token][n] = first_lane(of.scale);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
