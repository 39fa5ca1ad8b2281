// The two 16-bit floating point formats: conversions to and from binary32, bit exact.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::gguf {

// IEEE binary16. To f32 exact, subnormals kept; from f32 to nearest even.
inline float f16_to_f32(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 31;
    const uint32_t fraction = bits & 0x3ff;
    if (exponent == 0) {
        // Counted in units of the least subnormal, so that no binary32 subnormal is involved.
        const float magnitude = float(int(fraction)) * 0x1p-24f;
        return sign != 0 ? -magnitude : magnitude;
    }
    const uint32_t widened = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
}
uint16_t f32_to_f16(float value);

// bfloat16: the upper half of a binary32. From f32 to nearest even.
inline float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t f32_to_bf16(float value);

}  // namespace tandem::gguf
