// Blocks of 32 elements with one scale, and for some one offset. A byte of 4-bit codes holds
// element i in its low half and element i + 16 in its high half. @n is a field's place in its
// block.
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

// d f16 @0, q[16] @2: x = d (q - 8)
void decode_q4_0(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 18>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* q = block + 2;
        for (int i = 0; i < 16; i++) {
            x[i] = d * float((q[i] & 15) - 8);
            x[i + 16] = d * float((q[i] >> 4) - 8);
        }
    });
}

// d f16 @0, m f16 @2, q[16] @4: x = d q + m
void decode_q4_1(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 20>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const float m = load_f16(block + 2);
        const uint8_t* q = block + 4;
        for (int i = 0; i < 16; i++) {
            x[i] = d * float(q[i] & 15) + m;
            x[i + 16] = d * float(q[i] >> 4) + m;
        }
    });
}

// d f16 @0, h u32 @2, q[16] @6: x = d (c - 16), the fifth bits of the codes c are in h
void decode_q5_0(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 22>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto h = load<uint32_t>(block + 2);
        const uint8_t* q = block + 6;
        for (int i = 0; i < 16; i++) {
            const int low = (q[i] & 15) | int((h >> i << 4) & 16);
            const int high = (q[i] >> 4) | int((h >> (i + 12)) & 16);
            x[i] = d * float(low - 16);
            x[i + 16] = d * float(high - 16);
        }
    });
}

// d f16 @0, m f16 @2, h u32 @4, q[16] @8: x = d c + m, codes as in Q5_0
void decode_q5_1(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 24>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const float m = load_f16(block + 2);
        const auto h = load<uint32_t>(block + 4);
        const uint8_t* q = block + 8;
        for (int i = 0; i < 16; i++) {
            const int low = (q[i] & 15) | int((h >> i << 4) & 16);
            const int high = (q[i] >> 4) | int((h >> (i + 12)) & 16);
            x[i] = d * float(low) + m;
            x[i + 16] = d * float(high) + m;
        }
    });
}

// d f16 @0, h[8] @2, q[16] @10: x = d (c - 32), two high bits of a code from h
void decode_q6_0(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 26>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* h = block + 2;
        const uint8_t* q = block + 10;
        for (int i = 0; i < 16; i++) {
            const int bits = h[i % 8] >> (4 * (i / 8));
            x[i] = d * float(((q[i] & 15) | ((bits & 3) << 4)) - 32);
            x[i + 16] = d * float(((q[i] >> 4) | ((bits & 12) << 2)) - 32);
        }
    });
}

// d f16 @0, q s8[32] @2: x = d q
void decode_q8_0(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 34>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int i = 0; i < 32; i++) x[i] = d * float(int8_t(block[2 + i]));
    });
}

// d f16 @0, s f16 @2 (d times the sum of q), q s8[32] @4: x = d q
void decode_q8_1(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 36>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int i = 0; i < 32; i++) x[i] = d * float(int8_t(block[4 + i]));
    });
}

}  // namespace tandem::gguf
