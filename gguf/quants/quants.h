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
DecodeRow decode_f32, decode_f16, decode_bf16, decode_f64;
DecodeRow decode_i8, decode_i16, decode_i32, decode_i64;
EncodeRow encode_f32, encode_f16, encode_bf16;

// blocks32.cpp
DecodeRow decode_q4_0, decode_q4_1, decode_q5_0, decode_q5_1, decode_q6_0;
DecodeRow decode_q8_0, decode_q8_1;
// blocks32_encode.cpp
EncodeRow encode_q4_0, encode_q4_1, encode_q5_0, encode_q5_1, encode_q8_0, encode_q8_1;

// fp4.cpp
DecodeRow decode_mxfp4, decode_nvfp4;
EncodeRow encode_mxfp4, encode_nvfp4;

// k_quants.cpp
DecodeRow decode_q2_k, decode_q3_k, decode_q4_k, decode_q5_k, decode_q6_k, decode_q8_k;
// k_quants_encode.cpp
EncodeRow encode_q2_k, encode_q3_k, encode_q4_k, encode_q5_k, encode_q6_k, encode_q8_k;

// ternary.cpp
DecodeRow decode_tq1_0, decode_tq2_0, decode_q1_0, decode_q2_0;
EncodeRow encode_tq1_0, encode_tq2_0, encode_q1_0, encode_q2_0;

// nonlinear.cpp
DecodeRow decode_iq4_nl, decode_iq4_xs;
EncodeRow encode_iq4_nl, encode_iq4_xs;

// codebooks.cpp
DecodeRow decode_iq2_xxs, decode_iq2_xs, decode_iq2_s, decode_iq3_xxs, decode_iq3_s;
DecodeRow decode_iq1_s, decode_iq1_m;

// fork_k.cpp
DecodeRow decode_iq2_k, decode_iq3_k, decode_iq4_k, decode_iq5_k, decode_iq6_k;

// fork_ks.cpp
DecodeRow decode_iq2_ks, decode_iq2_kl, decode_iq3_ks, decode_iq4_ks, decode_iq4_kss;
DecodeRow decode_iq5_ks;

// trellis.cpp
DecodeRow decode_iq1_kt, decode_iq2_kt, decode_iq3_kt, decode_iq4_kt;

}  // namespace tandem::gguf
