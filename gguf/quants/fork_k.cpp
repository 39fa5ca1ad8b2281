// IQ2_K to IQ6_K, types that one fork writes: 256 elements in groups of 16 with a scale each, codes
// that index uneven levels. Bit j of `shifted` moves the levels of group j. @n is a field's place
// in its block.
#include "gguf/quants/fork_levels.h"
#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

namespace {

// Scales of 6 bits: low[8] nibbles, high[4] pairs of bits.
int scale6(const uint8_t* low, const uint8_t* high, int j) {
    return (nibble(low, j) | ((high[j / 4] >> (2 * (j % 4))) & 3) << 4) - 32;
}

int shift_of(uint32_t shifted, int j) { return int((shifted >> j) & 1); }

}  // namespace

// d f16 @0, shifted u16 @2, S u4[16] @4, q u2[256] @12: x = d (S - 8) L2[q]
void decode_iq2_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 76>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto shifted = load<uint16_t>(block + 2);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(nibble(block + 4, j) - 8);
            const int8_t* levels = levels2.data() + 4 * shift_of(shifted, j);
            const auto q = run<2>(block + 12, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(levels[q[i]]);
        }
    });
}

// d f16 @0, shifted u16 @2, signs of S u1[16] @4, S u4[16] @6, q u2[256] @14, h u1[256] @78:
// x = +-d (2 S + 1) L3[q + 4 h]
void decode_iq3_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 110>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto shifted = load<uint16_t>(block + 2);
        const auto negative = load<uint16_t>(block + 4);
        for (int j = 0; j < 16; j++, x += 16) {
            const int magnitude = 2 * nibble(block + 6, j) + 1;
            const float scale = d * float(((negative >> j) & 1) != 0 ? -magnitude : magnitude);
            const int8_t* levels = levels3.data() + 8 * shift_of(shifted, j);
            const auto q = run<2>(block + 14, 16 * j);
            const auto h = run<1>(block + 78, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(levels[q[i] | h[i] << 2]);
        }
    });
}

// d f16 @0, shifted u16 @2, S u6[16] @4, q u4[256] @16: x = d (S - 32) L4[q]
void decode_iq4_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 144>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto shifted = load<uint16_t>(block + 2);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(scale6(block + 8, block + 4, j));
            const int8_t* levels = levels4.data() + 16 * shift_of(shifted, j);
            const auto q = run<4, 16>(block + 16, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(levels[q[i]]);
        }
    });
}

// d f16 @0, shifted u16 @2, S u6[16] @4, q u4[256] @16, h u1[256] @144: x = d (S - 32) L5[q + 16 h]
void decode_iq5_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 176>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto shifted = load<uint16_t>(block + 2);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(scale6(block + 8, block + 4, j));
            const int8_t* levels = levels5.data() + 32 * shift_of(shifted, j);
            const auto q = run<4>(block + 16, 16 * j);
            const auto h = run<1>(block + 144, 16 * j);
            for (int i = 0; i < 16; i++) x[i] = scale * float(levels[q[i] | h[i] << 4]);
        }
    });
}

// d f16 @0, shifted u16 @2, S s8[16] @4, q u4[256] @20, h u2[256] @148: x = d S L6(q + 16 h), the
// shift is 1
void decode_iq6_k(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 212>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const auto shifted = load<uint16_t>(block + 2);
        for (int j = 0; j < 16; j++, x += 16) {
            const float scale = d * float(int8_t(block[4 + j]));
            const auto shift = float(shift6 * shift_of(shifted, j));
            const auto q = run<4>(block + 20, 16 * j);
            const auto h = run<2>(block + 148, 16 * j);
            for (int i = 0; i < 16; i++) {
                x[i] = scale * (levels6[size_t(q[i] | h[i] << 4)] + shift);
            }
        }
    });
}

}  // namespace tandem::gguf
