// Products with many tokens: some groups of rows are unpacked, a piece of the columns at a time, to
// bytes and scales that lie in the nearest cache while all tokens pass.
//
//     panel      codes [columns / 32][8 quads][lanes][4], scales and minima [columns / 32][lanes],
//                or [columns / 16][lanes] where a type has scales per 16 elements, and their units
//                [columns / 256][lanes] where they are whole
//     tokens     Q8Tiles, 16 at a time
//     results    f32 [groups][16 tokens][lanes]
#pragma once

#include "kernels/cpu/isa/matrix.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Groups that meet a token together, and columns of a panel.
inline constexpr int panel_groups = lanes == 16 ? 3 : 2;
inline constexpr int64_t panel_columns = 256;

struct Panel {
    alignas(64) uint8_t codes[panel_columns * lanes];
    alignas(64) float scales[panel_columns / 16 * lanes], mins[panel_columns / 16 * lanes];
    alignas(64) float units[panel_columns / 256 * lanes];
};

// What codes are counted from. Sums of products with whole scales have 16 bits: where they would
// not fit, codes with a minimum are counted from their middle and the minimum is moved.
template <class Type>
constexpr int panel_zero() {
    if constexpr (!Type::Scales::whole) {
        return Type::zero + (Type::is_signed ? signed_bias : 0);
    } else {
        constexpr int most = most_magnitude * 2 / Type::Scales::count;
        constexpr bool fits = (Type::levels - 1) * most < 1 << 15;
        constexpr int zero = fits || !Type::Scales::has_min ? Type::zero : Type::levels / 2;
        static_assert(fits || (zero >= Type::levels - zero && zero * most < 1 << 15));
        return zero;
    }
}

template <class Type>
inline void unpack_group(const uint8_t* weights, int64_t columns, Panel& panel) {
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        for (int line = 0; line < Type::bytes * lanes; line += 64) prefetch_line(p + line);
        Type::groups(p, [&](int g, const I(&codes)[8], const auto& s) [[gnu::always_inline]] {
            using S = std::remove_cvref_t<decltype(s)>;
            const int64_t at = b * (Type::block / 32) + g;
            uint8_t* to = panel.codes + at * 32 * lanes;
            for (int j = 0; j < 8; ++j) store(to + 4 * lanes * j, codes[j]);
            for (int h = 0; h < S::count; ++h) {
                const int64_t n = (S::count * at + h) * lanes;
                if constexpr (S::whole)
                    store(panel.scales + n, as_float(bit_and(s.scales[h], splat(0xffff))));
                else
                    store(panel.scales + n, s.scale(h));
                constexpr int moved = panel_zero<Type>() - Type::zero;
                if constexpr (S::has_min && S::whole && moved > 0)
                    store(panel.mins + n, fma(s.scale(h), splat(float(moved)), s.min(h)));
                else if constexpr (S::has_min)
                    store(panel.mins + n, s.min(h));
            }
            if constexpr (S::whole)
                if (g == 0) store(panel.units + b * lanes, s.unit);
        });
    }
}

// Columns of a Q8Tile with the sums that a type needs.
struct TokenTile {
    const int8_t* codes = nullptr;  // [columns / 64][16][64]
    // Of each token, so many numbers apart.
    const float *scales = nullptr, *real_sums = nullptr;
    const int32_t* sums = nullptr;
    int64_t scales_apart = 0, sums_apart = 0;

    template <class Type>
    static TokenTile of(const uint8_t* tile, int64_t columns, int64_t first) {
        constexpr bool per16 = Type::Scales::per16;
        const Q8Row at = q8_tile(columns, Type::block);
        const int64_t n = first / 32 * Type::Scales::count;
        auto reals = [&](int64_t offset) { return reinterpret_cast<const float*>(tile + offset); };
        auto* sums = reinterpret_cast<const int32_t*>(tile + (per16 ? at.sums16 : at.sums32));
        const int64_t sum_bytes = per16 ? at.real_sums16 - at.sums16 : at.real_sums32 - at.sums32;
        return {.codes = reinterpret_cast<const int8_t*>(tile) + first * tile_tokens,
                .scales = reals(at.scales) + first / Type::block,
                .real_sums = reals(per16 ? at.real_sums16 : at.real_sums32) + n,
                .sums = sums + n,
                .scales_apart = (at.sums16 - at.scales) / (4 * tile_tokens),
                .sums_apart = sum_bytes / (4 * tile_tokens)};
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
