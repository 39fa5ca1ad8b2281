// Rounding to int8 codes, of rows and of tiles.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The largest lane, of floats as their bits.
inline float largest_float(I floats) {
    const int32_t bits = largest(floats);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

// Compared as integers, which order magnitudes alike and put NaN above all: it must not get lost.
inline float largest_magnitude(const float* x, int64_t count) {
    I most = splat(0);
    for (int64_t i = 0; i < count; i += lanes) most = max(most, as_int(abs(load_f32(x + i))));
    return largest_float(most);
}

// Calls visit(i, sums) for the sums of each 16 of 256 numbers, `lanes` of them from the i-th on.
// number(column) gives `lanes` of the numbers, and is called once for each of them.
template <typename Number, typename Visit>
inline void each_sums16(Number number, Visit visit) {
    for (int first = 0; first < 256; first += 16 * lanes) {
        F rows[lanes];
        for (int i = 0; i < lanes; ++i) {
            rows[i] = number(first + 16 * i);
            for (int k = lanes; k < 16; k += lanes)
                rows[i] = add(rows[i], number(first + 16 * i + k));
        }
        visit(first / 16, sums(rows));
    }
}

// Of the sums of each 16 of 256 magnitudes.
inline float largest_sum16(const float* x) {
    I most = splat(0);
    each_sums16([&](int at) { return abs(load_f32(x + at)); },
                [&](int, F sums) { most = max(most, as_int(sums)); });
    return largest_float(most);
}

// What makes the largest magnitude of a block 127. Where numbers of 256 are so alike that codes
// would pass most_magnitude, the scale is larger, by less than a bit. NaN where x has one.
struct BlockScale {
    float scale, inverse;

    BlockScale(const float* x, int64_t block) {
        float most = largest_magnitude(x, block);
        if (block == 256) {
            constexpr float most_sum = most_magnitude - 16 * 0.5f;  // codes are rounded
            const float sum = largest_sum16(x) * (127 / most_sum);
            if (sum > most) most = sum;
        }
        scale = most / 127, inverse = most > 0 ? 127 / most : 0;
    }
};

inline void round_codes(const float* x, int64_t count, float inverse, int8_t* codes) {
    for (int64_t i = 0; i < count; i += lanes)
        store_bytes(codes + i, round_to_int(mul(load_f32(x + i), splat(inverse))));
}

// Calls put(number, sum) for the sum of each 16 codes.
template <typename Put>
inline void each_sum16(const int8_t* codes, int64_t columns, Put put) {
    for (int64_t i = 0; i < columns; i += 4 * lanes) {
        alignas(64) int32_t quads[lanes];
        store(reinterpret_cast<uint8_t*>(quads),
              dot(splat(0), splat_bytes(1), load(reinterpret_cast<const uint8_t*>(codes + i))));
        for (int64_t q = 0; q < lanes && i + 4 * q < columns; q += 4)
            put(i / 16 + q / 4, quads[q] + quads[q + 1] + quads[q + 2] + quads[q + 3]);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
