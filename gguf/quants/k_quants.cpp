// Q2_K to Q6_K: 256 elements in groups of 16 or 32, each with its own small integer scale (and
// minimum); Q8_K for activations. @n is a field's place in its block.
#include "gguf/quants/k_quants.h"

#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

// S u8[16] @0 (scale, minimum: 4 bits each), q u2[256] @16, d f16 @80, dmin f16 @82:
// x = d S q - dmin M; groups of 16
void decode_q2_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 84>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block + 80);
        const float dmin = load_f16(block + 82);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(block[j] & 15);
            const float minimum = dmin * float(block[j] >> 4);
            const auto q = run<2>(block + 16, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(q[i]) - minimum;
        }
    });
}

// h u1[256] @0, q u2[256] @32, S u6[16] @96, d f16 @108: x = d (S - 32) (q + 4 h - 4); groups of 16
void decode_q3_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 110>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block + 108);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(q3_k_scale(block + 96, j) - 32);
            const auto q = run<2>(block + 32, 16 * j);
            const auto h = run<1>(block, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(q[i] + 4 * h[i] - 4);
        }
    });
}

// d f16 @0, dmin f16 @2, S u6[16] @4, q u4[256] @16: x = d S q - dmin M; groups of 32
void decode_q4_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 144>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const float dmin = load_f16(block + 2);
        for (int j = 0; j < 8; j++, x += 32) {
            const ScaleAndMinimum codes = q4_k_scale(block + 4, j);
            const float scale = d * float(codes.scale);
            const float minimum = dmin * float(codes.minimum);
            const auto q = run<4>(block + 16, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = scale * float(q[i]) - minimum;
        }
    });
}

// d f16 @0, dmin f16 @2, S u6[16] @4, h u1[256] @16, q u4[256] @48: x = d S (q + 16 h) - dmin M;
// groups of 32
void decode_q5_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 176>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const float dmin = load_f16(block + 2);
        for (int j = 0; j < 8; j++, x += 32) {
            const ScaleAndMinimum codes = q4_k_scale(block + 4, j);
            const float scale = d * float(codes.scale);
            const float minimum = dmin * float(codes.minimum);
            const auto q = run<4>(block + 48, 32 * j);
            const auto h = run<1>(block + 16, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = scale * float(q[i] + 16 * h[i]) - minimum;
        }
    });
}

// q u4[256] @0, h u2[256] @128, S s8[16] @192, d f16 @208: x = d S (q + 16 h - 32); groups of 16
void decode_q6_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 210>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block + 208);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(int8_t(block[192 + j]));
            const auto q = run<4, 64>(block, 16 * j);
            const auto h = run<2>(block + 128, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(q[i] + 16 * h[i] - 32);
        }
    });
}

// d f32 @0, q s8[256] @4, sums of 16 q each s16[16] @260: x = d q
void decode_q8_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 292>(row, values, [](const uint8_t* block, float* x) {
        const auto d = load<float>(block);
        for (int i = 0; i < 256; i++) x[i] = d * float(int8_t(block[4 + i]));
    });
}

}  // namespace tandem::gguf
