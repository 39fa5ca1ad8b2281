// Words of simd.h that are alike in all sets, or in all but one: made of others.
#pragma once

#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

// 4 bytes, in every lane.
inline I splat_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, 4);
    return splat(quad);
}
inline I minus(I a) { return add(bit_xor(a, splat(-1)), splat(1)); }

// A lane with this number in both halves.
constexpr int32_t in_both_halves(int number) {
    return int32_t(uint32_t(number & 0xffff) * 0x10001);
}

// Two numbers of 16 bits side by side in every lane.
[[gnu::always_inline]] inline I pair_of(I first, I second) {
    return join_halves(first, shift_left(second, 16));
}

// Signed bytes as dot_signed() wants them.
inline I biased(I bytes) { return signed_bias == 0 ? bytes : bit_xor(bytes, splat_bytes(0x80)); }

// To nearest, halves to even.
inline void store_bf16(uint8_t* p, F a) {
    const I bits = as_int(a), odd = bit_and(shift_right(bits, 16), splat(1));
    const I rounded = add(bits, add(odd, splat(0x7fff)));
    const I quiet =
        bit_or(bits, splat(0x400000));  // rounding could turn what is no number into one
    const I magnitude = bit_and(bits, splat(0x7fffffff));
    const I upper = shift_right(select_less(splat(0x7f800000), magnitude, quiet, rounded), 16);
    store_halves(reinterpret_cast<int16_t*>(p), upper);
}
#if !defined(__AVX512VNNI__)
// A vector is one block.
inline I load_blocks(const uint8_t* p, int64_t) { return load(p); }
inline I splat_blocks(const int8_t* p, int64_t) { return splat_quad(p); }
#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
