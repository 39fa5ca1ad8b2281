// Products with many tokens: some groups of rows are unpacked, 256 columns at a time, to bytes and
// scales that lie in the nearest cache while all tokens pass.
//
//     panel      codes [columns / 32][8 quads][lanes][4], scales and minima [columns / 32][lanes],
//                or [columns / 16][lanes] where a type has scales per 16 elements
//     tokens     Q8Tiles
//     results    f32 [groups][16 tokens][lanes]
//
// Whole scales are i16 in the lower halves of their lanes, and whole minima lie in pairs, i16
// [columns / 64][lanes][2], or [columns / 32][lanes][2]. Their units are those of the row's 256
// columns.
#pragma once

#include <bit>

#include "kernels/cpu/isa/matrix.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int64_t panel_columns = tile_columns;

struct Panel {
    alignas(64) uint8_t codes[panel_columns * lanes];
    alignas(64) uint8_t scales[panel_columns / 16 * 4 * lanes];
    alignas(64) uint8_t mins[panel_columns / 32 * 4 * lanes];
    alignas(64) uint8_t taken[panel_columns / 64 * 4 * lanes];  // whole scales * middle, in pairs
    alignas(64) float units[lanes], min_units[lanes];
};

template <class Type>
struct PanelTraits {
    using Scales = typename Type::Scales;
    static constexpr int sums = int(panel_columns) / 32 * Scales::count;  // scales of a row

    // What codes are counted from. Sums of products with whole scales have 16 bits: where they
    // would not fit, codes with a minimum are counted from their middle, and what that takes from
    // them is added again, scale * middle * the sum of the activation.
    static constexpr int zero() {
        if constexpr (!Scales::whole) {
            return Type::zero + (Type::is_signed ? signed_bias : 0);
        } else {
            constexpr int most = most_magnitude * 2 / Scales::count;
            constexpr bool fits = (Type::levels - 1) * most < 1 << 15;
            constexpr int zero = fits || !Scales::has_min ? Type::zero : Type::levels / 2;
            static_assert(fits || (zero >= Type::levels - zero && zero * most < 1 << 15));
            return zero;
        }
    }
    static constexpr int taken = Scales::whole ? zero() - Type::zero : 0;
};

// Stores numbers of 16 bits, two in a lane.
inline void store_pairs(const I* numbers, int count, uint8_t* to) {
    for (int n = 0; n < count; n += 2)
        store(to + n / 2 * 4 * lanes,
              bit_or(bit_and(numbers[n], splat(0xffff)), shift_left(numbers[n + 1], 16)));
}

// At most 256 columns.
template <class Type>
inline void unpack_group(const uint8_t* weights, int64_t columns, Panel& panel) {
    using T = PanelTraits<Type>;
    using S = typename Type::Scales;
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        I mins[T::sums], taken[T::sums];
        constexpr int taken_bits = std::countr_zero(unsigned(T::taken));  // a power of two
        Type::groups(p, [&](int g, const I(&codes)[8], const S& s) [[gnu::always_inline]] {
            const int64_t at = b * (Type::block / 32) + g;
            uint8_t* to = panel.codes + at * 32 * lanes;
            for (int j = 0; j < 8; ++j) store(to + 4 * lanes * j, codes[j]);
            for (int h = 0; h < S::count; ++h) {
                const int64_t n = S::count * at + h;
                if constexpr (S::whole) {
                    store(panel.scales + n * 4 * lanes, bit_and(s.scales[h], splat(0xffff)));
                    if constexpr (S::has_min) mins[n] = s.mins[h];
                    if constexpr (T::taken != 0) taken[n] = shift_left(s.scales[h], taken_bits);
                } else {
                    store(panel.scales + n * 4 * lanes, as_int(s.scale(h)));
                    if constexpr (S::has_min) store(panel.mins + n * 4 * lanes, as_int(s.min(h)));
                }
            }
            if constexpr (S::whole) {
                store(panel.units, s.unit);
                store(panel.min_units, s.min_unit);
            }
        });
        if constexpr (S::whole && S::has_min) store_pairs(mins, T::sums, panel.mins);
        if constexpr (T::taken != 0) store_pairs(taken, T::sums, panel.taken);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
