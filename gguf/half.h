// The two 16-bit floating point formats: conversions to and from binary32, bit exact.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::gguf {

// IEEE binary16. To f32 exact, subnormals kept; from f32 to nearest even.
inline float f16_to_f32(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
    // The bias of the exponent grows by 112, that of infinities and NaNs twice as much. The leading
    // one that a subnormal lacks is put there and taken away again. Masks instead of branches let
    // loops over many numbers run in vectors.
    const uint32_t special = 0u - uint32_t(magnitude >= 0x0f800000);
    const uint32_t small = 0u - uint32_t(magnitude < 0x00800000);
    const uint32_t normal = magnitude + (112u << 23) + (special & (112u << 23));
    const float subnormal = std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
    const uint32_t value = (std::bit_cast<uint32_t>(subnormal) & small) | (normal & ~small);
    return std::bit_cast<float>(sign | value);
}
uint16_t f32_to_f16(float value);

// bfloat16: the upper half of a binary32. From f32 to nearest even.
inline float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t f32_to_bf16(float value);

}  // namespace tandem::gguf
