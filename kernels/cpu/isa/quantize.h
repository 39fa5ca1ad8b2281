// Rounding to int8 codes, of rows and of tiles.
//
//     for (block b) {
//         float most = max of |x[k]|, inverse;
//         if (b has 256 columns) {
//             scale = most / largest, inverse = largest / most, or 0;
//             if (magnitudes of 16 codes add up to too much) the same with a larger `most`;
//         } else {
//             scale = the least 2^n * below_power[step] that makes no code too large;
//             inverse = 2^-n * (1 / below_power[step]);
//         }
//         for (column k of b) code[k] = round(x[k] * inverse);     // halves to even
//     }
//
// where `largest` is largest_code or largest_small_code.
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

// Whether all numbers are finite, of whose magnitudes this is the largest.
inline bool is_finite(float largest) { return largest - largest == 0; }

// The scale of a block of 32 is a power of two and some steps of 2^(1/8) less: the least that makes
// no code larger than the largest. Its product with a scale of weights is then one of eight that
// all tokens share, but for the exponent. Of four, rounding would add a tenth more to a result's
// error; sixteen take twice as much of the nearest cache and of the time of unpacking.
inline constexpr float below_power[scale_steps] = {
    1, 0.91700404f, 0.84089642f, 0.77110541f, 0.70710678f, 0.64841978f, 0.59460356f, 0.54525387f};
inline constexpr float least_power = 0x1p-120f, most_power = 0x1p126f;  // with normal inverses

// The least power of two that makes no code of magnitudes up to `most` larger than the largest.
inline F power_for(F most, int largest) {
    const I above = add(as_int(mul(most, splat(1.0f / float(largest)))), splat(0x7fffff));
    const F power = as_float(bit_and(above, splat(0x7f800000)));
    return min(max(power, splat(least_power)), splat(most_power));
}

// As many steps below a power of two as the largest magnitude allows.
struct SteppedScale {
    I steps = splat(0);
    F below = splat(1.0f);  // of the power
    F inverse;              // of the scale

    SteppedScale(F power, F most, int largest) {
        constexpr int32_t twice_one = 0x7f000000;  // bits: an exponent of 0, twice
        inverse = as_float(add(splat(twice_one), minus(as_int(power))));
        const I part = as_int(mul(mul(most, splat(1.0f / float(largest))), inverse));
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

// In a token's 256 columns no block's power is a smaller part of the largest than this, so that its
// integers are normal floats. That of the largest power has this origin (Q8Tile).
inline constexpr float least_part = 0x1p-48f, first_origin = 0x1.8p23f;

// Blocks of 32 that are scaled together, and the lanes, side by side, that know of each.
inline constexpr int scaled_blocks = 8, lanes_of_block = lanes / scaled_blocks;

// The largest magnitudes of such blocks.
inline F largest_of_blocks(const float* x) {
    F most[scaled_blocks];
    for (int n = 0; n < scaled_blocks; ++n) {
        most[n] = zero();
        for (int k = 0; k < 32; k += lanes)
            most[n] = larger(most[n], abs(load_f32(x + 32 * n + k)));
    }
    return join_rows<scaled_blocks>(most, larger);
}

inline void round_codes(const float* x, int64_t count, float inverse, int8_t* codes) {
    for (int64_t i = 0; i < count; i += lanes)
        store_bytes(codes + i, round_to_int(mul(load_f32(x + i), splat(inverse))));
}

// Calls visit(i, sums) for the sums of each 16 of 256 codes, `lanes` of them from the i-th on; in
// halves of lanes, if at all, the first two and the last two of every four are added up.
// at(column) is where codes from a multiple of 64 on lie; take(codes) is what is summed of some.
template <bool in_halves = false, typename At, typename Take, typename Visit>
inline void each_sums16(At at, Take take, Visit visit) {
    auto sum = [&](I codes) {
        const I ones = splat_bytes(1);
        return in_halves ? dot_halves(splat(0), ones, codes) : dot(splat(0), ones, codes);
    };
    for (int first = 0; first < 256; first += 16 * lanes) {
        I quads[4];
        for (int v = 0; v < 4; ++v) {
            const uint8_t* parts[lanes / 4];
            for (int i = 0; i < lanes / 4; ++i)
                parts[i] = reinterpret_cast<const uint8_t*>(at(first + 64 * i)) + 16 * v;
            quads[v] = sum(take(load_parts(parts)));
        }
        visit(first / 16,
              add_neighbours<2, in_halves>(add_neighbours<1, in_halves>(quads[0], quads[1]),
                                           add_neighbours<1, in_halves>(quads[2], quads[3])));
    }
}

// The inverse of much less would not be finite: such blocks are zeros.
inline constexpr float least_largest = 1e-30f;

// Rounds a block of 256 to codes up to `largest` and returns its scale, which is no finite number
// where x has one that is not. Where numbers are so alike that codes would pass most_magnitude, the
// scale is larger than what the largest needs, about twice at most.
template <typename At>
inline float round_256(const float* x, int largest, At at) {
    const float most = largest_magnitude(x, 256), code = float(largest);
    auto round = [&](float largest_number) {
        const float inverse = largest_number > least_largest ? code / largest_number : 0;
        for (int column = 0; column < 256; column += 64)
            round_codes(x + column, 64, inverse, at(column));
        return largest_number / code;
    };
    const float scale = round(most);
    I all = splat(0);
    each_sums16(
        at, [](I codes) { return negate_where(codes, codes, splat_bytes(0x80)); },
        [&](int, I sums) { all = max(all, sums); });
    constexpr int rounding = 16 / 2;  // of 16 codes, at most
    if (TANDEM_ISA::largest(all) <= most_magnitude - 2 * rounding) return scale;
    float most_of_sums = 0;
    for (int first = 0; first < 256; first += 16) {
        F magnitudes = zero();
        for (int k = 0; k < 16; k += lanes)
            magnitudes = add(magnitudes, abs(load_f32(x + first + k)));
        const float needed = sum(magnitudes) * (code / (most_magnitude - rounding));
        if (needed > most_of_sums) most_of_sums = needed;
    }
    return most_of_sums > most ? round(most_of_sums) : scale;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
