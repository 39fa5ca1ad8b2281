// A tile of float products that stays in registers: rows whose elements are spread over a vector,
// by vectors of columns.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// By two vectors, sums of so many rows take half of all registers.
inline constexpr int tile_rows = lanes / 2;

// sum += a [rows][inner] b [inner][vectors * lanes], where a(row, i) is an element and b's rows lie
// `stride` floats apart.
template <int rows, int vectors, typename Element>
[[gnu::always_inline]] inline void add_products(Element a, const float* b, int64_t stride,
                                                int64_t inner, F (&sum)[rows][vectors]) {
    for (int64_t i = 0; i < inner; ++i) {
        F column[vectors];
        for (int v = 0; v < vectors; ++v) column[v] = load_f32(b + i * stride + v * lanes);
        for (int r = 0; r < rows; ++r) {
            F x = splat(a(r, i));
            for (int v = 0; v < vectors; ++v) sum[r][v] = fma(x, column[v], sum[r][v]);
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
