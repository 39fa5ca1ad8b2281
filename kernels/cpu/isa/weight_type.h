// What matrix kernels know of a type of weights. A Type is a packed block of all rows of a group,
// made of where it lies; its elements are runs of 32:
//
//     block       elements of a block; the activation's are 256 where these are, else 32
//     bytes       of a packed block of one row
//     zero        the code of 0.0; 0 for types with a minimum of their own
//     levels      codes, or magnitudes of signed ones, are below this
//     is_signed   codes went through biased()
//     by_quads    a quad's codes take little by themselves; else all of a run are made together
//     seldom      true, or not there: compiled for fewer numbers of tokens
//     codes(run)  a function of the number of a quad, which gives quad j of every row, four
//                 codes in each lane
//     Scales      of a run: how results become values; scales(run)
//
// Of Scales, those with `per16` have two per run, those with `has_min` add minimum * sum of the
// activation, and those that are `whole` are whole numbers times one number of a block.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <bool per16_, bool has_min_>
struct FloatScales {
    static constexpr bool per16 = per16_, has_min = has_min_, whole = false;
    static constexpr int count = per16 ? 2 : 1;
    F scales[count], mins[count];

    F scale(int h) const { return scales[h]; }
    F min(int h) const { return mins[h]; }
};
using Scale = FloatScales<false, false>;
using ScaleMin = FloatScales<false, true>;
using Scale16 = FloatScales<true, false>;

template <bool per16_, bool has_min_>
struct WholeScales {
    static constexpr bool per16 = per16_, has_min = has_min_, whole = true;
    static constexpr int count = per16 ? 2 : 1;
    F unit, min_unit;  // the same in all of a block
    I scales[count], mins[count];
    I pair;  // both scales as i16, or the one in the lower half of a lane

    F scale(int h) const { return mul(unit, to_float(scales[h])); }
    F min(int h) const { return mul(min_unit, to_float(mins[h])); }
};

// Whether the activation has blocks of 256.
template <class Type>
inline constexpr bool is_wide = Type::block == 256;

// Whether a Type is compiled for fewer numbers of tokens, as the compiler takes long for each:
// where it says that it is `seldom` in files, so that a step of 3 or 7 tokens unpacks rows more
// than once, and where vectors are in parts.
template <class Type>
constexpr bool has_few_sizes() {
    if constexpr (requires { Type::seldom; }) return Type::seldom || vectors_in_parts;
    return vectors_in_parts;
}

// How far a code can be from that of 0.0.
template <class Type>
inline constexpr int farthest_code =
    Type::zero > Type::levels - 1 - Type::zero ? Type::zero : Type::levels - 1 - Type::zero;

// Whether sums of products with a whole scale have 16 bits: what codes of zero add is taken off,
// and the magnitudes of 16 neighbours bound them.
template <class Type>
constexpr bool sums_have_16_bits() {
    using S = typename Type::Scales;
    return S::whole && farthest_code<Type> * most_magnitude * 2 / S::count < 1 << 15;
}

// Bytes of a run of all rows.
template <class Type>
inline constexpr int run_bytes = (lanes * Type::bytes) / (Type::block / 32);

// Asks for as much as a run of all rows takes, which some tokens pass.
template <class Type, int tokens>
[[gnu::always_inline]] inline void prefetch_part(const uint8_t* near, const uint8_t* far) {
    for (int byte = 0; byte < run_bytes<Type>; byte += 64)
        prefetch_lines<tokens>(near + byte, far + byte);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
