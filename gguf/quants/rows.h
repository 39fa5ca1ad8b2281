// How rows are made of blocks, and the fields of blocks: little endian, at any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "gguf/half.h"

namespace tandem::gguf {

template <class Number>
Number load(const uint8_t* bytes) {
    Number value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template <class Number>
void store(uint8_t* bytes, Number value) {
    std::memcpy(bytes, &value, sizeof value);
}

inline float load_f16(const uint8_t* bytes) { return f16_to_f32(load<uint16_t>(bytes)); }
inline void store_f16(uint8_t* bytes, float value) { store(bytes, f32_to_f16(value)); }

// -value where the lowest bit is set: without a branch, which random signs would mispredict.
inline float negate_if(uint32_t bit, float value) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ (bit << 31));
}

// Calls decode(block, values) for every block of a row.
template <size_t elements, size_t block_bytes, class Decode>
void decode_blocks(const std::byte* row, std::span<float> values, const Decode& decode) {
    const auto* block = reinterpret_cast<const uint8_t*>(row);
    for (size_t i = 0; i < values.size(); i += elements, block += block_bytes) {
        decode(block, values.data() + i);
    }
}

// Calls encode(values, importance, block) for every block of a row; importance may be null.
template <size_t elements, size_t block_bytes, class Encode>
void encode_blocks(std::span<const float> values, std::span<const float> importance, std::byte* row,
                   const Encode& encode) {
    auto* block = reinterpret_cast<uint8_t*>(row);
    for (size_t i = 0; i < values.size(); i += elements, block += block_bytes) {
        encode(values.data() + i, importance.empty() ? nullptr : importance.data() + i, block);
    }
}

}  // namespace tandem::gguf
