// The two 16-bit floating point formats: conversions to and from binary32, bit exact.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::gguf {

// IEEE binary16. To f32 exact, subnormals kept; from f32 to nearest even.
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);

// bfloat16: the upper half of a binary32.
inline float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t f32_to_bf16(float value);

}  // namespace tandem::gguf
