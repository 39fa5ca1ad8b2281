// Activations in bf16 tiles, and where asked what rounding took as bf16 again.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// A vector of numbers to one row of a tile, and to the same row of its second part.
inline void put_rounded(F x, int parts, uint8_t* to, int64_t part_bytes) {
    for (int part = 0; part < parts; ++part, to += part_bytes) {
        store_bf16(to, x);
        x = sub(x, load_bf16(to));
    }
}

void place_row(const float* row, int64_t columns, int parts, uint8_t* tile, int token) {
    const int64_t part_bytes = bf16_tile_bytes(columns, 1);
    for (int64_t i = 0; i < columns; i += 32) {
        uint8_t* to = tile + i * tile_tokens * 2 + 64 * token;
        float padded[32];
        const float* x = row ? row + i : padded;
        if (!row || columns - i < 32) {
            for (int64_t k = 0; k < 32; ++k) padded[k] = row && i + k < columns ? row[i + k] : 0;
            x = padded;
        }
        for (int k = 0; k < 32; k += lanes)
            put_rounded(load_f32(x + k), parts, to + 2 * k, part_bytes);
    }
}

}  // namespace

PlaceBf16* const place_bf16 = matrix_units ? place_row : nullptr;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
