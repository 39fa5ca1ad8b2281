// Products with many tokens: some groups of rows are unpacked, 256 columns at a time, to bytes and
// scales that lie in the nearest cache while all tokens pass.
//
//     panel      codes [columns / 32][8 quads][lanes][4], scales and minima [columns / 32][lanes],
//                scales [columns / 16][lanes] where a type has them per 16 elements; of types with
//                smaller blocks, scales [columns / 32 or 16][scale_steps][lanes]
//     tokens     Q8Tiles
//     results    f32 [groups][16 tokens][lanes]
//
// Whole scales are i16 in the lower halves of their lanes where sums of products have 16 bits, too,
// else floats. Whole minima lie in pairs, i16 [columns / 64][lanes][2], or twice as many where
// scales are per 16 elements. Their units are those of the row's 256 columns.
//
// Where one product of pairs multiplies two sums, whole scales of these lie in pairs, too, that of
// the first sum and that of the second.
//
// Where sums are kept in halves of lanes, each half adds up 16 columns (tile_place()), and whole
// scales are i16 [columns / 32][lanes][2], those of both halves.
//
// Where products are crossed, codes are as crossed.h wants them.
#pragma once

#include "kernels/cpu/isa/crossed.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/quantize.h"
#include "kernels/cpu/isa/weight_type.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int64_t panel_columns = tile_columns;

struct Panel {
    alignas(64) uint8_t codes[panel_columns * lanes];
    alignas(64) uint8_t scales[panel_columns / 16 * scale_steps * 4 * lanes];
    alignas(64) uint8_t mins[panel_columns / 32 * 4 * lanes];
    alignas(64) float units[lanes], min_units[lanes];
    alignas(64) uint8_t begins[panel_columns / 32 * 4 * lanes];  // of sums of crossed products
};

// How many of the 8 quads of 32 columns may be added up in halves of lanes, where each gives two
// products to a half. 0: sums are kept in whole lanes, as they are as fast, or codes too large.
// With scales of 16 columns it is one at least, which always fits: the halves keep their sums
// apart.
template <class Type>
constexpr int panel_quads() {
    if (!sums_in_halves) return 0;
    constexpr int most = (1 << 15) - 1;
    constexpr int all = is_wide<Type> ? most_magnitude : 16 * largest_code;
    for (int quads : {8, 4, 3, 2}) {
        const int some = quads * 2 * largest_code, magnitude = some < all ? some : all;
        if (farthest_code<Type> * magnitude <= most) return quads;
    }
    static_assert(farthest_code<Type> * 2 * largest_code <= most);
    return Type::Scales::per16 ? 1 : 0;
}

template <class Type>
struct PanelTraits {
    using Scales = typename Type::Scales;
    static constexpr int parts = int(panel_columns) / 32 * Scales::count;  // that have a scale
    static constexpr int zero = Type::zero + (Type::is_signed ? signed_bias : 0);
    static constexpr bool in_halves = panel_quads<Type>() > 0;
    static constexpr bool crossed = is_adding<Type> && crosses_bytes<Type>();
    static constexpr bool whole_mins = Scales::whole && Scales::has_min;
    // Whether one product of pairs multiplies two sums by their whole scales, and a shift and an
    // addition take the place of the other.
    static constexpr bool in_pairs =
        is_adding<Type> && !crossed && Scales::whole && sums_have_16_bits<Type>();
    // Whether what codes of zero add is taken off sums of halves of lanes, since these have no room
    // for it; else it is taken off the whole sums.
    static constexpr bool begins_in_halves =
        in_halves && zero != 0 &&
        (is_wide<Type> || (Type::levels - 1) * 16 * largest_code >= 1 << 15);
    // Whether sums begin with anything.
    static constexpr bool has_offsets = zero != 0 || crossed || (!is_wide<Type> && !in_halves);
    // Whether products read the sums of 16 codes of a token.
    static constexpr bool sums_of_16 = Scales::per16 || begins_in_halves;

    // Whether whole scales are integers in the panel.
    static constexpr bool in_16_bits() {
        return Scales::whole && (in_halves || sums_have_16_bits<Type>());
    }
};

template <class Type>
using PanelOffset = std::conditional_t<PanelTraits<Type>::begins_in_halves, int16_t, int32_t>;

// Stores numbers of 16 bits, two in a lane.
inline void store_pairs(const I* numbers, int count, uint8_t* to) {
    for (int n = 0; n < count; n += 2)
        store(to + n / 2 * 4 * lanes, pair_of(numbers[n], numbers[n + 1]));
}

// Whole scales of 32 columns as products read them.
template <class Type>
inline void store_scales(const I* scales, uint8_t* to) {
    using P = PanelTraits<Type>;
    constexpr int count = Type::Scales::count;
    if constexpr (P::in_halves)
        store(to, pair_of(scales[0], scales[count - 1]));
    else
        for (int h = 0; h < count; ++h)
            store(to + h * 4 * lanes, P::in_16_bits() ? bit_and(scales[h], splat(0xffff))
                                                      : as_int(to_float(scales[h])));
}

// Codes of 32 columns in the order of tokens'.
template <typename Codes>
[[gnu::always_inline]] inline void store_codes(const Codes& codes, uint8_t* to) {
    if (!sums_in_halves)
        for (int j = 0; j < 8; ++j) store(to + 4 * lanes * j, codes(j));
    else
        for (int j = 0; j < 4; ++j) {
            const I first = codes(j), last = codes(j + 4);
            store(to + 8 * lanes * j, pair_of(first, last));
            store(to + 8 * lanes * j + 4 * lanes, join_halves(shift_right(first, 16), last));
        }
}

// The products of a row's scale of 32 columns with a token's of each number of steps below a power
// of two.
inline void store_steps(F scale, uint8_t* to) {
    for (int n = 0; n < scale_steps; ++n)
        store(to + n * 4 * lanes, as_int(mul(scale, splat(below_power[n]))));
}

// At most 256 columns.
template <class Type>
inline void unpack_group(const uint8_t* weights, int64_t columns, Panel& panel) {
    using P = PanelTraits<Type>;
    using S = typename Type::Scales;
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const Type packed{weights + b * Type::bytes * lanes};
        I mins[P::parts], scales[P::parts];
        each_run<Type, true>([&](int run) [[gnu::always_inline]] {
            const int64_t at = b * (Type::block / 32) + run;
            const S s = packed.scales(run);
            if constexpr (P::crossed)
                store_crossed<Type>(packed.codes(run), panel.codes + at * 32 * lanes,
                                    panel.begins + at * 4 * lanes);
            else
                store_codes(packed.codes(run), panel.codes + at * 32 * lanes);
            if constexpr (S::whole && !P::in_pairs)
                store_scales<Type>(s.scales,
                                   panel.scales + at * (P::in_halves ? 1 : S::count) * 4 * lanes);
            for (int h = 0; h < S::count; ++h) {
                const int64_t n = S::count * at + h;
                if constexpr (S::whole) {
                    if constexpr (P::in_pairs) scales[n] = s.scales[h];
                    if constexpr (P::whole_mins) mins[n] = s.mins[h];
                } else {
                    if constexpr (!is_wide<Type>)
                        store_steps(s.scale(h), panel.scales + n * scale_steps * 4 * lanes);
                    else
                        store(panel.scales + n * 4 * lanes, as_int(s.scale(h)));
                    if constexpr (S::has_min) store(panel.mins + n * 4 * lanes, as_int(s.min(h)));
                }
            }
            if constexpr (S::whole) {
                store(panel.units, s.unit);
                store(panel.min_units, s.min_unit);
            }
        });
        if constexpr (P::in_pairs) store_pairs(scales, P::parts, panel.scales);
        if constexpr (P::whole_mins) store_pairs(mins, P::parts, panel.mins);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
