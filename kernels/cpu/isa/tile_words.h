// The words of matrix units (AMX-BF16): eight tiles of 16 rows of 64 bytes. The compiler's own do
// not tell it which memory they touch.
#pragma once

#include <cstdint>

namespace tandem::kernels::cpu::TANDEM_ISA {

#if defined(__AMX_BF16__)

inline void tiles_begin() {
    struct alignas(64) Shapes {
        uint8_t palette = 1, start = 0, reserved[14] = {};
        uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    asm volatile("ldtilecfg (%0)" ::"r"(&shapes) : "memory");
}
inline void tiles_end() { asm volatile("tilerelease"); }

// Rows lie `stride` bytes from one another.
template <int tile>
inline void tile_load(const void* rows, int64_t stride = 64) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
inline void tile_store(void* rows, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
inline void tile_zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}
// Adds products to f32 sums [token][row]: tokens are bf16 [token][32], rows [16 pairs][row][2].
template <int sums, int tokens, int rows>
inline void tile_dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(tokens), "i"(rows));
}

#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
