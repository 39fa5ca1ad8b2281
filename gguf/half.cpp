#include "gguf/half.h"

namespace tandem::gguf {

namespace {

// value / 2^bits, to nearest, halves to even. bits >= 1.
uint32_t round_off(uint32_t value, uint32_t bits) {
    const uint32_t below_half = (1u << (bits - 1)) - 1;
    return (value + below_half + ((value >> bits) & 1)) >> bits;
}

}  // namespace

uint16_t f32_to_f16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00);  // 65520 and more: infinity
    if (magnitude >= 0x38800000) {                                // 2^-14 and more: normal
        return uint16_t(sign | round_off(magnitude - (112u << 23), 13));
    }
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return uint16_t(sign);  // less than half of the least subnormal, 2^-24
    const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    return uint16_t(sign | round_off(significand, 126 - exponent));
}

uint16_t f32_to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t((bits >> 16) | 0x40);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace tandem::gguf
