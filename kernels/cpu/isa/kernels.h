// The pieces of one variant, put together in isa.cpp.
#pragma once

#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

extern const MatrixKernels f32, f16, bf16;
extern const MatrixKernels q4_0, q4_1, q5_0, q5_1, q6_0, q8_0, iq4_nl, mxfp4, nvfp4;
extern const MatrixKernels q2_k, q3_k, q4_k, q5_k, q6_k, iq4_xs;
extern const MatrixKernels iq2_xxs, iq2_xs, iq2_s, iq3_xxs, iq3_s, iq1_s, iq1_m;
extern const MatrixKernels tq2_0, q1_0, q2_0;
extern const MatrixKernels iq2_k, iq3_k, iq4_k, iq5_k, iq6_k, iq2_ks, iq3_ks, iq4_ks, iq5_ks,
    iq2_kl;
extern const MatrixKernels iq1_kt, iq2_kt, iq3_kt, iq4_kt;

Quantize quantize;
extern Quantize* const quantize_small;
Place place, place_q16;
extern Place* const place_small;
extern PlaceBf16* const place_bf16;
void attend_few(const Attention& attention);
void attend_block(const Attention& attention);
void attend_join(const AttentionParts& parts);
void encode(int type, const float* x, int64_t count, uint8_t* row);
void delta_step(const DeltaStep& step);
void delta_chunk(const DeltaChunk& chunk);
void short_conv(const Convolution& convolution);

void rms_norm(const float* x, const float* weight, float epsilon, float* y, int64_t count);
void add_arrays(const float* a, const float* b, float* y, int64_t count);
void mul_arrays(const float* a, const float* b, float* y, int64_t count);
void silu_mul(const float* gate, const float* up, float* y, int64_t count);
void gelu_mul(const float* gate, const float* up, float* y, int64_t count);
void clamped_swiglu(const float* gate, const float* up, float* y, int64_t count);
Map scale, exp, sigmoid, softplus, soft_cap;
void softmax(const float* x, float* y, int64_t count);
void add_scaled(const float* x, float weight, float* y, int64_t count);
float dot_arrays(const float* a, const float* b, int64_t count);

uint64_t stream(const uint8_t* memory, int64_t count);
float integer_work(int64_t rounds);
int64_t integer_products();
float float_work(int64_t rounds);
int64_t float_products();

}  // namespace tandem::kernels::cpu::TANDEM_ISA
