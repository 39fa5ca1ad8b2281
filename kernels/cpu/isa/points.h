// Points of codebooks (gguf/quants/grids.h) by their numbers, for every row at once. Where
// registers can be looked up like tables, levels are found there; elsewhere points are gathered
// from memory.
#pragma once

#include "gguf/quants/grids.h"
#include "kernels/cpu/isa/fields.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The numbers of four points: a byte of each in `low`, and `bits` more in `above`, those of the
// first from bit `from` on and of the next ones each `apart` bits later.
template <int bits, int apart = bits>
struct Numbers {
    I low, above;
    int from = 0;
};

// The same with signs, in halves of two lanes: 9 bits, and seven signs.
struct SignedNumbers {
    I first, second;
};

// A codebook whose points have signs of their own.
template <size_t length, size_t count>
struct Codebook {
    static constexpr int bits = length == 8 ? 2 : 3;  // of a level's number
    static constexpr int quads = length;              // of elements that four points have
    static constexpr int fours = 8 / quads;           // times four points are 32 elements

    const std::array<std::array<int8_t, length>, count>& points;
    const gguf::Halves<count>& halves;
    const gguf::Levels& levels;
};

inline constexpr Codebook iq2_xxs_book{gguf::iq2xxs_grid, gguf::iq2xxs_grid_halves,
                                       gguf::iq2_levels};
inline constexpr Codebook iq2_xs_book{gguf::iq2xs_grid, gguf::iq2xs_grid_halves, gguf::iq2_levels};
inline constexpr Codebook iq2_s_book{gguf::iq2s_grid, gguf::iq2s_grid_halves, gguf::iq2_levels};
inline constexpr Codebook iq3_xxs_book{gguf::iq3xxs_grid, gguf::iq3xxs_grid_halves,
                                       gguf::iq3xxs_levels};
inline constexpr Codebook iq3_s_book{gguf::iq3s_grid, gguf::iq3s_grid_halves, gguf::iq3s_levels};

// Of IQ1_S and IQ1_M, points of -1, 0 and 1 are moved up or down by 1/8. Codes are eight times
// that, plus 9.
inline constexpr int shifted_zero = 9, shifted_levels = 19;

// Each way of finding points has
//
//   even_signs(bits)    eight signs, of which an even number is set, in each byte of a lane: of
//                       four runs of seven bits, the first in the lowest, or of SignedNumbers
//   signed_points<book>(four, signs)
//                       the codes of 32 elements. four(i): the i-th numbers of four points; a
//                       lane's bits of `signs`: which of its elements are negative
//   shifted_points<apart>(numbers, down, from)
//                       those of IQ1_S and IQ1_M. Bit `from` of `down`, and of the next points one
//                       each `apart` bits later: whether a point is moved down

}  // namespace tandem::kernels::cpu::TANDEM_ISA

#if defined(__AVX512VBMI__)
#include "kernels/cpu/isa/points_looked_up.h"
#else
#include "kernels/cpu/isa/points_gathered.h"
#endif
