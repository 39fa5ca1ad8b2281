// The fields of packed blocks (packing.cpp), for every row at once.
#pragma once

#include "kernels/cpu/isa/simd.h"

// In front of a loop over the groups of a block: shifts and indices become constants. Not with
// portable lanes, of whose loops GCC 12 then makes wrong sums, at -O1 and without vectorisation.
#if defined(__AVX2__)
#define TANDEM_UNROLL_GROUPS _Pragma("GCC unroll 8")
#else
#define TANDEM_UNROLL_GROUPS
#endif

namespace tandem::kernels::cpu::TANDEM_ISA {

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
