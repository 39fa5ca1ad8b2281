// The fields of packed blocks (packing.cpp), for every row at once.
#pragma once

#include "gguf/quants/nonlinear.h"
#include "kernels/cpu/isa/level_table.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Calls visit(run) for each run of a Type's block (weight_type.h): in a loop, or with
// constants for shifts and indices, where that is safe.
template <class Type, bool unrolls, typename Visit>
[[gnu::always_inline]] inline void each_run(Visit visit) {
    constexpr int runs = Type::block / 32;
    // GCC 12 makes wrong sums of portable lanes where it unrolls, at -O1 and without vectorisation.
    if constexpr (unrolls && !vectors_in_parts) {
#pragma GCC unroll 8
        for (int run = 0; run < runs; ++run) visit(run);
    } else {
#pragma GCC unroll 1
        for (int run = 0; run < runs; ++run) visit(run);
    }
}

// Dword v of a field that begins at p, for every row.
[[gnu::always_inline]] inline I dword(const uint8_t* p, int v) { return load(p + 4 * lanes * v); }

// The codes of quad j among 32 of 4 bits: dword v has quad v in its low and quad v + 4 in its high
// nibbles.
[[gnu::always_inline]] inline I nibbles(const uint8_t* p, int j) {
    const I bytes = dword(p, j % 4);
    return bit_and(j < 4 ? bytes : shift_right(bytes, 4), splat_bytes(15));
}

// What a table16() has for the low or the high nibbles of bytes, and for those of quad j.
template <typename Table16>
[[gnu::always_inline]] inline I lookup_nibbles(const Table16& table, I bytes, bool high) {
    const I index = high ? shift_right(bytes, 4) : bytes;
    // There the table repeats after 16 bytes: higher bits of an index pick the same.
    if constexpr (looks_up_bytes)
        return lookup64(table, index);
    else
        return lookup(table, bit_and(index, splat_bytes(15)));
}
template <typename Table16>
[[gnu::always_inline]] inline I lookup_nibbles(const Table16& table, const uint8_t* p, int j) {
    return lookup_nibbles(table, dword(p, j % 4), j >= 4);
}

// The levels of IQ4_NL and IQ4_XS, and of the scales of IQ1_KT and IQ2_KT.
inline constexpr LevelArray nonlinear = level_array(gguf::nonlinear_levels, 16);

// All bits of a lane where its bit `place` is set, else none.
[[gnu::always_inline]] inline I where_bit(I lane, int place) {
    return shift_right_signed(shift_left(lane, 31 - place), 31);
}

// The lower half of every lane as a signed number.
[[gnu::always_inline]] inline I lower_half(I pair) {
    return shift_right_signed(shift_left(pair, 16), 16);
}

// Some bits of every byte from place `from` on, at place `to`; the rest of the bytes is 0.
[[gnu::always_inline]] inline I move_bits(I bytes, int bits, int from, int to) {
    const I moved = from < to   ? shift_left(bytes, to - from)
                    : from > to ? shift_right(bytes, from - to)
                                : bytes;
    return bit_and(moved, splat_bytes(((1 << bits) - 1) << to));
}
// The bit of quad j, of a dword with one of each element, and its two bits, of two dwords
// (regroup.h), at place `to`.
[[gnu::always_inline]] inline I one_bit(I dword, int j, int to) {
    return move_bits(dword, 1, j, to);
}
[[gnu::always_inline]] inline I two_bits(const uint8_t* p, int j, int to) {
    return move_bits(dword(p, j % 2), 2, j / 2 * 2, to);
}

// Codes of quad j whose low bits begin at p, and the others in a dword, or in two.
[[gnu::always_inline]] inline I three_bits(I high, const uint8_t* p, int j) {
    return bit_or(two_bits(p, j, 0), one_bit(high, j, 2));
}
[[gnu::always_inline]] inline I five_bits(I high, const uint8_t* p, int j) {
    return bit_or(nibbles(p, j), one_bit(high, j, 4));
}
[[gnu::always_inline]] inline I six_bits(const uint8_t* high, const uint8_t* p, int j) {
    return bit_or(nibbles(p, j), two_bits(high, j, 4));
}

// `bits` bits of every lane from `shift` on.
[[gnu::always_inline]] inline I field(I lane, int shift, int bits) {
    return bit_and(shift_right(lane, shift), splat((1 << bits) - 1));
}

// The n-th of eight numbers of 4 bits, of which the low nibbles have the first four.
[[gnu::always_inline]] inline I nibble_of(I packed, int n) {
    return field(packed, 8 * (n % 4) + n / 4 * 4, 4);
}

// Where a dword has a bit for each of 32 elements: those of quad v, in its byte v / 2.
[[gnu::always_inline]] inline I quad_bits(int v) {
    return splat(v % 2 == 0 ? 0x08040201 : int32_t(0x80402010));
}

// The codes of 32 elements, where they are made together.
struct Quads {
    I quads[8];
    [[gnu::always_inline]] I operator()(int j) const { return quads[j]; }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
