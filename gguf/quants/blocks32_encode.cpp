// Encoders of the 32-element types of blocks32.cpp. Codes come from the unrounded scale; only what
// is stored is rounded. Importance, where a type takes it, is turned into weights and a search.
#include <algorithm>
#include <array>
#include <cmath>

#include "gguf/quants/quants.h"
#include "gguf/quants/rounding.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/search.h"

namespace tandem::gguf {

namespace {

using Codes = std::array<uint8_t, 32>;

void put_nibbles(const Codes& codes, uint8_t* q) {
    for (size_t i = 0; i < 16; i++) q[i] = uint8_t((codes[i] & 15) | (codes[i + 16] & 15) << 4);
}

void put_fifth_bits(const Codes& codes, uint8_t* h) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 32; i++) bits |= uint32_t(codes[i] >> 4) << i;
    store(h, bits);
}

// The mean square of a row, where it is wanted.
float row_variance(std::span<const float> values, std::span<const float> importance) {
    return importance.empty() ? 0 : sum_of_squares(values) / float(values.size());
}

// The extreme value, or one that is no number: as the scale it must not get lost.
float extreme_or_nan(const float* x) {
    for (int i = 0; i < 32; i++) {
        if (std::isnan(x[i])) return x[i];
    }
    return extreme({x, 32});
}

// Codes 0..2 half - 1 around half; the extreme value gets code 0.
float encode_symmetric(const float* x, int half, Codes& codes) {
    const float d = extreme_or_nan(x) / float(-half);
    const float inverse = reciprocal(d);
    for (size_t i = 0; i < 32; i++) {
        const float offset = float(half) + 0.5f;
        codes[i] = uint8_t(truncate(x[i] * inverse + offset, 0, 2 * half - 1));
    }
    return d;
}

// Codes 0..most from the smallest value to the largest.
AffineFit encode_affine(const float* x, int most, Codes& codes) {
    const auto [low, high] = std::minmax_element(x, x + 32);
    const float d = (*high - *low) / float(most);
    const float inverse = reciprocal(d);
    for (size_t i = 0; i < 32; i++) {
        codes[i] = uint8_t(truncate((x[i] - *low) * inverse + 0.5f, 0, most));
    }
    return {.scale = d, .minimum = -*low};
}

// Calls put(scale, codes, block) for each block of a row.
template <size_t block_bytes, class Put>
void encode_symmetric_row(std::span<const float> values, std::span<const float> importance,
                          std::byte* row, int half, const Put& put) {
    const float variance = row_variance(values, importance);
    encode_blocks<32, block_bytes>(
        values, importance, row, [&](const float* x, const float* important, uint8_t* block) {
            Codes codes;
            if (!important) return put(encode_symmetric(x, half, codes), codes, block);
            float weights[32];
            weigh({x, 32}, important, variance, weights);
            put(fit_symmetric({x, 32}, weights, half, codes.data()), codes, block);
        });
}

// Calls put(fit, codes, block) for each block of a row.
template <size_t block_bytes, class Put>
void encode_affine_row(std::span<const float> values, std::span<const float> importance,
                       std::byte* row, int most, const Put& put) {
    const AffineSearch search = {
        .most = most, .first = -0.9f, .step = 0.05f, .steps = 36, .absolute = false};
    const float variance = row_variance(values, importance);
    encode_blocks<32, block_bytes>(
        values, importance, row, [&](const float* x, const float* important, uint8_t* block) {
            Codes codes;
            if (!important) return put(encode_affine(x, most, codes), codes, block);
            float weights[32];
            weigh({x, 32}, important, variance, weights);
            put(fit_affine({x, 32}, weights, search, codes.data()), codes, block);
        });
}

// d and 32 codes in -127..127, no -128.
float encode_bytes(const float* x, uint8_t* q, int& sum) {
    const float d = std::fabs(extreme_or_nan(x)) / 127.0f;
    const float inverse = reciprocal(d);
    sum = 0;
    for (int i = 0; i < 32; i++) {
        const int code = round_away(x[i] * inverse, -127, 127);
        q[i] = uint8_t(int8_t(code));
        sum += code;
    }
    return d;
}

}  // namespace

void encode_q4_0(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_symmetric_row<18>(values, importance, row, 8,
                             [](float d, const Codes& codes, uint8_t* block) {
                                 store_f16(block, d);
                                 put_nibbles(codes, block + 2);
                             });
}

void encode_q5_0(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_symmetric_row<22>(values, importance, row, 16,
                             [](float d, const Codes& codes, uint8_t* block) {
                                 store_f16(block, d);
                                 put_fifth_bits(codes, block + 2);
                                 put_nibbles(codes, block + 6);
                             });
}

void encode_q4_1(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_affine_row<20>(values, importance, row, 15,
                          [](const AffineFit& fit, const Codes& codes, uint8_t* block) {
                              store_f16(block, fit.scale);
                              store_f16(block + 2, -fit.minimum);
                              put_nibbles(codes, block + 4);
                          });
}

void encode_q5_1(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_affine_row<24>(values, importance, row, 31,
                          [](const AffineFit& fit, const Codes& codes, uint8_t* block) {
                              store_f16(block, fit.scale);
                              store_f16(block + 2, -fit.minimum);
                              put_fifth_bits(codes, block + 4);
                              put_nibbles(codes, block + 8);
                          });
}

void encode_q8_0(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<32, 34>(values, importance, row,
                          [](const float* x, const float*, uint8_t* block) {
                              int sum = 0;
                              store_f16(block, encode_bytes(x, block + 2, sum));
                          });
}

void encode_q8_1(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<32, 36>(values, importance, row,
                          [](const float* x, const float*, uint8_t* block) {
                              int sum = 0;
                              const float d = encode_bytes(x, block + 4, sum);
                              store_f16(block, d);
                              store_f16(block + 2, float(sum) * d);
                          });
}

}  // namespace tandem::gguf
