// The fields of packed blocks (packing.cpp), for every row at once.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Calls visit(g) for each 32 elements of a Type's block (matrix.h): in a loop, or with constants
// for shifts and indices, where that is safe.
template <class Type, bool unrolls, typename Visit>
[[gnu::always_inline]] inline void each_group(Visit visit) {
    constexpr int groups = Type::block / 32;
// GCC 12 makes wrong sums of portable lanes where it unrolls, at -O1 and without vectorisation.
#if defined(__AVX2__)
    if constexpr (unrolls) {
#pragma GCC unroll 8
        for (int g = 0; g < groups; ++g) visit(g);
        return;
    }
#endif
#pragma GCC unroll 1
    for (int g = 0; g < groups; ++g) visit(g);
}

// Dword v of a field that begins at p, for every row.
[[gnu::always_inline]] inline I dword(const uint8_t* p, int v) { return load(p + 4 * lanes * v); }

// `bits` bits of every lane from `shift` on.
[[gnu::always_inline]] inline I field(I lane, int shift, int bits) {
    return bit_and(shift_right(lane, shift), splat((1 << bits) - 1));
}

// Where a dword has a bit for each of 32 elements: those of quad v, in its byte v / 2.
[[gnu::always_inline]] inline I quad_bits(int v) {
    return splat(v % 2 == 0 ? 0x08040201 : int32_t(0x80402010));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
