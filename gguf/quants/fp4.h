// The 4 bit floating point numbers of MXFP4 and NVFP4, and the 8 bit scales of their blocks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace tandem::gguf {

// Twice the values of E2M1, so that they are whole; the scales below are halved in turn. Code 8,
// minus zero, decodes to zero.
constexpr std::array<int8_t, 16> fp4_values = {0, 1,  2,  3,  4,  6,  8,  12,
                                               0, -1, -2, -3, -4, -6, -8, -12};

// Half of the E8M0 number: 2^(e - 128), subnormal for the smallest two.
inline float mxfp4_scale(uint32_t e) {
    return std::bit_cast<float>(e < 2 ? uint32_t(0x00200000) << e : (e - 1) << 23);
}

// Half of the unsigned E4M3 number; the patterns for zero and NaN are zero.
inline float nvfp4_scale(uint32_t bits) {
    if (bits == 0x00 || bits == 0x7f) return 0.0f;
    const uint32_t exponent = (bits >> 3) & 15;
    const auto fraction = float(bits & 7);
    if (exponent == 0) return fraction * 0x1p-10f;
    return (1.0f + fraction / 8) * std::bit_cast<float>((exponent + 119) << 23);
}

}  // namespace tandem::gguf
