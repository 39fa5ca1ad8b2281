// Rounding to int8 codes, of rows and of tiles.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The larger magnitude; as an integer, NaN is the largest.
inline F larger(F a, F b) { return as_float(max(as_int(a), as_int(b))); }

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

// The scale of a block of 32 is a power of two and some steps of 2^(1/4) less: the least that makes
// no magnitude larger than 127. Its product with a scale of weights is then one of four that all
// tokens share, but for the exponent.
inline constexpr float below_power[scale_steps] = {1, 0.84089642f, 0.70710678f, 0.59460356f};
inline constexpr float least_power = 0x1p-120f, most_power = 0x1p126f;  // with normal inverses

// The least power of two that makes no magnitude larger than 127.
inline F power_for(F most) {
    const I above = add(as_int(mul(most, splat(1.0f / 127))), splat(0x7fffff));
    const F power = as_float(bit_and(above, splat(0x7f800000)));
    return min(max(power, splat(least_power)), splat(most_power));
}

// As many steps below a power of two as the largest magnitude allows.
struct SteppedScale {
    I steps = splat(0);
    F below = splat(1.0f);  // of the power
    F inverse;              // of the scale

    SteppedScale(F power, F most) {
        constexpr int32_t twice_one = 0x7f000000;  // bits: an exponent of 0, twice
        inverse = as_float(add(splat(twice_one), minus(as_int(power))));
        const I part = as_int(mul(mul(most, splat(1.0f / 127)), inverse));
        I factor = as_int(below), inverse_factor = factor;
        for (int n = 1; n < scale_steps; ++n) {
            const I limit = as_int(splat(below_power[n]));
            steps = select_less(limit, part, steps, splat(n));
            factor = select_less(limit, part, factor, limit);
            inverse_factor =
                select_less(limit, part, inverse_factor, as_int(splat(1 / below_power[n])));
        }
        below = as_float(factor);
        inverse = mul(inverse, as_float(inverse_factor));
    }
};

// Exponents are added to bits of floats that must stay normal: in a token's 256 columns no block's
// power is a smaller part of the largest than this, and no scale of weights is smaller.
inline constexpr float least_part = 0x1p-48f, least_scale = 0x1p-76f;

// How a block is rounded. Where numbers of 256 are so alike that codes would pass most_magnitude,
// the scale is larger than what makes the largest 127, by less than a bit. It is no finite number
// where x has one that is not.
struct BlockScale {
    float scale, inverse;

    BlockScale(const float* x, int64_t block) {
        float most = largest_magnitude(x, block);
        if (block == 256) {
            constexpr float most_sum = most_magnitude - 16 * 0.5f;  // codes are rounded
            const float sum = largest_sum16(x) * (127 / most_sum);
            if (sum > most) most = sum;
            scale = most / 127, inverse = most > 0 ? 127 / most : 0;
        } else {
            const F power = power_for(splat(most));
            const SteppedScale of(power, splat(most));
            alignas(64) float scales[lanes], inverses[lanes];
            store(scales, mul(power, of.below));
            store(inverses, of.inverse);
            scale = most - most == 0 ? scales[0] : most, inverse = inverses[0];
        }
    }
};

inline void round_codes(const float* x, int64_t count, float inverse, int8_t* codes) {
    for (int64_t i = 0; i < count; i += lanes)
        store_bytes(codes + i, round_to_int(mul(load_f32(x + i), splat(inverse))));
}

// Calls put(number, first, second) for each 16 codes: the sums of those that lower and upper halves
// of lanes take, two of every four.
template <typename Put>
inline void each_sum16(const int8_t* codes, int64_t columns, Put put) {
    for (int64_t i = 0; i < columns; i += 4 * lanes) {
        alignas(64) int16_t pairs[2 * lanes];
        store(reinterpret_cast<uint8_t*>(pairs),
              dot_halves(splat(0), splat_bytes(1),
                         load(reinterpret_cast<const uint8_t*>(codes + i))));
        for (int64_t q = 0; q < lanes && i + 4 * q < columns; q += 4) {
            const int16_t* of = pairs + 2 * q;
            put(i / 16 + q / 4, of[0] + of[2] + of[4] + of[6], of[1] + of[3] + of[5] + of[7]);
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
