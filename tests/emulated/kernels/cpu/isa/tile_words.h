// The words of matrix units for machines without: what each says, in plain code. They are calls, as
// it takes minutes to compile what they unroll to wherever they are used.
#pragma once

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

inline uint8_t* emulated_tile(int tile) {
    alignas(64) static thread_local uint8_t tiles[8][16 * 64];
    return tiles[tile];
}

inline void tiles_begin() {}
inline void tiles_end() {}

template <int tile>
[[gnu::noinline]] void tile_load(const void* rows, int64_t stride = 64) {
    for (int row = 0; row < 16; ++row)
        std::memcpy(emulated_tile(tile) + 64 * row,
                    static_cast<const uint8_t*>(rows) + row * stride, 64);
}
template <int tile>
[[gnu::noinline]] void tile_store(void* rows, int64_t stride) {
    for (int row = 0; row < 16; ++row)
        std::memcpy(static_cast<uint8_t*>(rows) + row * stride, emulated_tile(tile) + 64 * row, 64);
}
template <int tile>
[[gnu::noinline]] void tile_zero() {
    std::memset(emulated_tile(tile), 0, 16 * 64);
}
template <int sums, int tokens, int rows>
[[gnu::noinline]] void tile_dot() {
    auto* sum = reinterpret_cast<float*>(emulated_tile(sums));
    auto number = [](const uint8_t* tile, int at) {
        uint16_t half;
        std::memcpy(&half, tile + 2 * at, sizeof half);
        const uint32_t bits = uint32_t(half) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    };
    for (int token = 0; token < 16; ++token)
        for (int k = 0; k < 32; ++k) {
            const float x = number(emulated_tile(tokens), token * 32 + k);
            for (int row = 0; row < 16; ++row)
                sum[token * 16 + row] +=
                    x * number(emulated_tile(rows), k / 2 * 32 + 2 * row + k % 2);
        }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
