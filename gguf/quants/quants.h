// The decoder and, where there is one, the encoder of every type: rows as in DTypeTraits. One file
// for each family; the layouts and formulas stand there.
#pragma once

#include <cstddef>
#include <span>

namespace tandem::gguf {

using DecodeRow = void(const std::byte* row, std::span<float> values);
using EncodeRow = void(std::span<const float> values, std::span<const float> importance,
                       std::byte* row);

// scalars.cpp
DecodeRow decode_f32, decode_f16, decode_bf16, decode_f64, decode_i8, decode_i16, decode_i32,
    decode_i64;
EncodeRow encode_f32, encode_f16, encode_bf16;

// blocks32.cpp
DecodeRow decode_q4_0, decode_q4_1, decode_q5_0, decode_q5_1, decode_q6_0, decode_q8_0, decode_q8_1;
EncodeRow encode_q4_0, encode_q4_1, encode_q5_0, encode_q5_1, encode_q8_0, encode_q8_1;

}  // namespace tandem::gguf
