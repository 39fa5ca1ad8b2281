// Exponentials of many numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::cli {

// exp for x <= 0, to a few units in the last place and without a branch, so that the compiler can
// compute several at once: 2^n times a polynomial (Cephes, S. Moshier). What is too small for a
// normal number becomes the least of them.
inline float exp_of_negative(float x) {
    constexpr float lowest = -87.0f;        // the least with a normal result
    constexpr float log2_e = 1.44269504f;   // 1 / ln 2
    constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    const float bounded = x < lowest ? lowest : x;
    const float shifted = bounded * log2_e + rounder;
    const float n = shifted - rounder;
    const float r = (bounded - n * ln2_high) - n * ln2_low;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const float fraction = (p * r) * r + r + 1.0f;
    const auto exponent = std::bit_cast<uint32_t>(shifted) << 23;  // n * 2^23, modulo 2^32
    return std::bit_cast<float>(std::bit_cast<uint32_t>(fraction) + exponent);
}

}  // namespace tandem::cli
