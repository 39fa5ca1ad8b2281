// TQ1_0, TQ2_0 (-1, 0, 1), Q1_0 (-1, 1) and Q2_0 (-1 to 2), times one scale. @n is a field's place
// in its block.
#include <algorithm>
#include <cmath>

#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rounding.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/search.h"

namespace tandem::gguf {

namespace {

constexpr int powers_of_three[] = {1, 3, 9, 27, 81};

// A byte is a fraction of base 3, rounded up; its digit t, the first most significant.
int trit(uint8_t byte, int t) {
    const auto rest = uint8_t(byte * powers_of_three[t]);
    return (rest * 3) >> 8;
}

// -1, 0, 1 as 0, 1, 2.
int ternary_code(float value) { return round_away(value, -1, 1) + 1; }

}  // namespace

// q[48] @0 (five elements each), h[4] @48 (four each), d f16 @52: x = d (c - 1)
void decode_tq1_0(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 54>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block + 52);
        const auto put = [&](const uint8_t* bytes, int count, int trits) {
            for (int t = 0; t < trits; t++) {
                for (int i = 0; i < count; i++) *x++ = d * float(trit(bytes[i], t) - 1);
            }
        };
        put(block, 32, 5);
        put(block + 32, 16, 5);
        put(block + 48, 4, 4);
    });
}

// q u2[256] @0, d f16 @64: x = d (q - 1)
void decode_tq2_0(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 66>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block + 64);
        for (int j = 0; j < 8; j++, x += 32) {
            const auto q = run<2>(block, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = d * float(q[i] - 1);
        }
    });
}

// d f16 @0, q u1[128] @2: x = d or -d
void decode_q1_0(const std::byte* row, std::span<float> values) {
    decode_blocks<128, 18>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int i = 0; i < 128; i++) x[i] = negate_if(~(uint32_t(block[2 + i / 8]) >> (i % 8)), d);
    });
}

// d f16 @0, q u2[64] @2: x = d (q - 1); neighbours share a byte
void decode_q2_0(const std::byte* row, std::span<float> values) {
    decode_blocks<64, 18>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int i = 0; i < 64; i++)
            x[i] = d * float(((block[2 + i / 4] >> (2 * (i % 4))) & 3) - 1);
    });
}

void encode_tq1_0(std::span<const float> values, std::span<const float> importance,
                  std::byte* row) {
    encode_blocks<256, 54>(
        values, importance, row, [](const float* x, const float*, uint8_t* block) {
            const float d = std::fabs(extreme({x, 256}));
            const float inverse = reciprocal(d);
            const auto put = [&](uint8_t* bytes, int count, int trits) {
                for (int i = 0; i < count; i++) {
                    int number = 0;  // five digits, the last one zero where there are four
                    for (int t = 0; t < trits; t++) {
                        number += powers_of_three[4 - t] * ternary_code(x[t * count + i] * inverse);
                    }
                    bytes[i] = uint8_t((number * 256 + 242) / 243);
                }
                x += count * trits;
            };
            put(block, 32, 5);
            put(block + 32, 16, 5);
            put(block + 48, 4, 4);
            store_f16(block + 52, d);
        });
}

void encode_tq2_0(std::span<const float> values, std::span<const float> importance,
                  std::byte* row) {
    encode_blocks<256, 66>(values, importance, row,
                           [](const float* x, const float*, uint8_t* block) {
                               const float d = std::fabs(extreme({x, 256}));
                               const float inverse = reciprocal(d);
                               std::fill_n(block, 64, uint8_t(0));
                               for (int i = 0; i < 256; i++) {
                                   put_bits<2>(block, i, ternary_code(x[i] * inverse));
                               }
                               store_f16(block + 64, d);
                           });
}

void encode_q1_0(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<128, 18>(values, importance, row,
                           [](const float* x, const float*, uint8_t* block) {
                               float sum = 0;
                               std::fill_n(block + 2, 16, uint8_t(0));
                               for (int i = 0; i < 128; i++) {
                                   sum += std::fabs(x[i]);
                                   block[2 + i / 8] |= uint8_t((x[i] >= 0 ? 1 : 0) << (i % 8));
                               }
                               store_f16(block, sum / 128.0f);
                           });
}

void encode_q2_0(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<64, 18>(values, importance, row,
                          [](const float* x, const float*, uint8_t* block) {
                              const float d = std::fabs(extreme({x, 64}));
                              const float inverse = reciprocal(d);
                              std::fill_n(block + 2, 16, uint8_t(0));
                              for (int i = 0; i < 64; i++) {
                                  const int code = ternary_code(x[i] * inverse);
                                  block[2 + i / 4] |= uint8_t(code << (2 * (i % 4)));
                              }
                              store_f16(block, d);
                          });
}

}  // namespace tandem::gguf
