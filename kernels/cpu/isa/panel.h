// Products with many tokens: a group of rows is unpacked once, to bytes and scales that lie in a
// near cache while all tokens pass. What a type is ends here: the tiles know four kinds of scales.
//
//     panel      codes [columns / 32][8 quads][lanes][4], scales and minima [columns / 32][lanes],
//                or [columns / 16][lanes] where a type has scales per 16 elements
//     tokens     Q8Tiles, 16 at a time
//     results    f32 [16 tokens][lanes]
#pragma once

#include "kernels/cpu/isa/matrix.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

struct Panel {
    uint8_t* codes = nullptr;
    float *scales = nullptr, *mins = nullptr;

    static constexpr int64_t bytes(int64_t columns) {
        return lanes * columns + 2 * 4 * lanes * (columns / 16);
    }
    Panel(uint8_t* memory, int64_t columns)
        : codes(memory),
          scales(reinterpret_cast<float*>(memory + lanes * columns)),
          mins(scales + lanes * (columns / 16)) {}
};

// What the tiles must know of a type.
template <int block_, bool per16, bool has_min_, bool is_signed_>
struct Kind {
    static constexpr int block = block_;
    static constexpr int halves = per16 ? 2 : 1;  // scales per 32 elements
    static constexpr bool has_min = has_min_, is_signed = is_signed_;
};
template <class Type>
using KindOf = Kind<Type::block, Type::Scales::per16, Type::Scales::has_min, Type::is_signed>;

template <class Type>
inline void unpack_group(const uint8_t* weights, int64_t columns, const Panel& panel) {
    for (int64_t b = 0; b < columns / Type::block; ++b) {
        const uint8_t* p = weights + b * Type::bytes * lanes;
        for (int line = 0; line < Type::bytes * lanes; line += 64) prefetch_line(p + line);
        Type::groups(p, [&](int g, const I(&codes)[8], const auto& s) [[gnu::always_inline]] {
            using S = std::remove_cvref_t<decltype(s)>;
            const int64_t at = b * (Type::block / 32) + g;
            uint8_t* to = panel.codes + at * 32 * lanes;
            for (int j = 0; j < 8; ++j) store(to + 4 * lanes * j, codes[j]);
            if constexpr (S::per16) {
                for (int h = 0; h < 2; ++h) {
                    store(panel.scales + (2 * at + h) * lanes, s.scale[h]);
                    if constexpr (S::has_min) store(panel.mins + (2 * at + h) * lanes, s.min[h]);
                }
            } else {
                store(panel.scales + at * lanes, s.scale);
                if constexpr (S::has_min) store(panel.mins + at * lanes, s.min);
            }
        });
    }
}

// A Q8Tile with the sums that a kind of product needs.
struct TokenTile {
    const uint8_t* codes = nullptr;  // [columns / 32][16][32]
    const float *scales = nullptr, *real_sums = nullptr;
    const int32_t* sums = nullptr;

    template <class Kind>
    static TokenTile of(const uint8_t* tile, int64_t columns) {
        const Q8Row at = q8_tile(columns, Kind::block);
        const int64_t sums = Kind::halves == 2 ? at.sums16 : at.sums32;
        const int64_t real_sums = Kind::halves == 2 ? at.real_sums16 : at.real_sums32;
        return {.codes = tile,
                .scales = reinterpret_cast<const float*>(tile + at.scales),
                .real_sums = reinterpret_cast<const float*>(tile + real_sums),
                .sums = reinterpret_cast<const int32_t*>(tile + sums)};
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
