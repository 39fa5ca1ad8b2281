// MXFP4 and NVFP4: 4 bit floating point numbers under a shared 8 bit scale. @n is a field's place
// in its block.
// https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf
#include "gguf/quants/fp4.h"

#include <algorithm>
#include <cmath>

#include "gguf/quants/quants.h"
#include "gguf/quants/rounding.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/search.h"

namespace tandem::gguf {

namespace {

// The code of the nearest value, towards zero where two are as near.
int nearest_fp4(float x, float scale) {
    int best = 0;
    float least = std::fabs(float(fp4_values[0]) * scale - x);
    for (int c = 1; c < 16; c++) {
        const float error = std::fabs(float(fp4_values[size_t(c)]) * scale - x);
        if (error < least) {
            least = error;
            best = c;
        }
    }
    return best;
}

// `count` bytes of codes, elements in halves.
void put_nearest(const float* x, int count, float scale, uint8_t* q) {
    for (int i = 0; i < count; i++) {
        q[i] = uint8_t(nearest_fp4(x[i], scale) | nearest_fp4(x[i + count], scale) << 4);
    }
}

// The logarithm is rounded to binary32 before it is rounded down: directly below a power of two the
// exponent is that of the power.
uint8_t mxfp4_exponent(float largest) {
    if (!(largest > 0)) return 0;
    const auto logarithm = float(std::log2(double(largest)));
    return uint8_t(truncate(std::floor(logarithm) + 125.0f, 0, 254));
}

// The nearest unsigned E4M3 number, as its bits.
uint8_t nvfp4_bits(float x) {
    constexpr uint8_t largest = 0x7e;  // 448
    if (!(x > 0)) return 0;
    const auto bits = std::bit_cast<uint32_t>(std::min(x, 448.0f));
    const int exponent = int(bits >> 23) - 127 + 7;
    if (exponent <= 0) return uint8_t(truncate(x * 512.0f + 0.5f, 0, 7));
    if (exponent >= 15) return largest;
    const uint32_t rounded = ((bits >> 20) & 7) + ((bits >> 19) & 1);  // 8 carries
    return uint8_t(std::min(uint32_t(exponent << 3) + rounded, uint32_t(largest)));
}

}  // namespace

// e u8 @0, q u4[32] @1: x = 2^(e - 128) F[q], the elements in halves
void decode_mxfp4(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 17>(row, values, [](const uint8_t* block, float* x) {
        const float scale = mxfp4_scale(block[0]);
        const uint8_t* q = block + 1;
        for (int i = 0; i < 16; i++) {
            x[i] = scale * float(fp4_values[q[i] & 15]);
            x[i + 16] = scale * float(fp4_values[q[i] >> 4]);
        }
    });
}

// S u8[4] @0, q u4[64] @4: x = S F[q], four groups of 16, each in halves
void decode_nvfp4(const std::byte* row, std::span<float> values) {
    decode_blocks<64, 36>(row, values, [](const uint8_t* block, float* x) {
        const uint8_t* q = block + 4;
        for (int t = 0; t < 4; t++, q += 8, x += 16) {
            const float scale = nvfp4_scale(block[t]);
            for (int i = 0; i < 8; i++) {
                x[i] = scale * float(fp4_values[q[i] & 15]);
                x[i + 8] = scale * float(fp4_values[q[i] >> 4]);
            }
        }
    });
}

void encode_mxfp4(std::span<const float> values, std::span<const float> importance,
                  std::byte* row) {
    encode_blocks<32, 17>(values, importance, row,
                          [](const float* x, const float*, uint8_t* block) {
                              block[0] = mxfp4_exponent(std::fabs(extreme({x, 32})));
                              put_nearest(x, 16, mxfp4_scale(block[0]), block + 1);
                          });
}

void encode_nvfp4(std::span<const float> values, std::span<const float> importance,
                  std::byte* row) {
    encode_blocks<64, 36>(values, importance, row,
                          [](const float* x, const float*, uint8_t* block) {
                              for (int t = 0; t < 4; t++, x += 16) {
                                  block[t] = nvfp4_bits(std::fabs(extreme({x, 16})) / 6.0f);
                                  put_nearest(x, 8, nvfp4_scale(block[t]), block + 4 + 8 * t);
                              }
                          });
}

}  // namespace tandem::gguf
