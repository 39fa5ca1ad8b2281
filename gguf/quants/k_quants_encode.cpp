// Encoders of the K-quants: a search for the scale (and minimum) of every group, the scales made
// small integers, and then the codes chosen anew with the scales as they are stored.
#include <algorithm>
#include <array>
#include <cmath>

#include "gguf/quants/k_quants.h"
#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rounding.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/search.h"

namespace tandem::gguf {

namespace {

constexpr int block_size = 256;

// The codes of a block and what the groups' scales were rounded to.
template <int group>
struct Coded {
    static constexpr int groups = block_size / group;
    std::array<uint8_t, block_size> codes{};
    std::array<uint8_t, groups> scales{};
    std::array<uint8_t, groups> minimums{};
    uint16_t d = 0;     // f16
    uint16_t dmin = 0;  // f16
};

// `values` as codes 0..most of one factor, without weights: the largest gets `most`.
template <size_t count>
uint16_t round_scales(const std::array<float, count>& values, int most,
                      std::array<uint8_t, count>& codes) {
    const float largest = *std::max_element(values.begin(), values.end());
    if (!(largest > 0)) return 0;
    const float inverse = float(most) / largest;
    for (size_t j = 0; j < count; j++) {
        codes[j] = uint8_t(round_to_even(inverse * values[j], 0, most));
    }
    return f32_to_f16(largest / float(most));
}

// 1 or 2 mean squares of a block, for weights with importance.
float block_variance(const float* x, float factor) {
    return factor * sum_of_squares({x, block_size}) / float(block_size);
}

// What sets the types with minimums apart.
struct AffineType {
    AffineSearch search;    // without importance
    bool deviation;         // weights |x| plus the group's root mean square, or |x| alone
    float variance_factor;  // in weights with importance
    int most_scale;         // scales and minimums are 0..most_scale
};

AffineSearch important_search(int most) {
    return {.most = most, .first = -0.9f, .step = 0.05f, .steps = 36, .absolute = false};
}

void weigh_plainly(std::span<const float> x, bool deviation, float* weights) {
    const float mean = deviation ? std::sqrt(sum_of_squares(x) / float(x.size())) : 0.0f;
    for (size_t i = 0; i < x.size(); i++) weights[i] = mean + std::fabs(x[i]);
}

template <int group>
Coded<group> encode_affine(const float* x, const float* importance, const AffineType& type) {
    constexpr int groups = Coded<group>::groups;
    const int most = type.search.most;
    const AffineSearch search = importance ? important_search(most) : type.search;
    const float variance = importance ? block_variance(x, type.variance_factor) : 0;
    Coded<group> coded;
    std::array<float, groups> scales;
    std::array<float, groups> minimums;
    std::array<float, groups> sums{};
    for (int j = 0; j < groups; j++) {
        const std::span<const float> values(x + group * j, group);
        float weights[group];
        if (importance) {
            weigh(values, importance + group * j, variance, weights);
        } else {
            weigh_plainly(values, type.deviation, weights);
        }
        for (float weight : weights) sums[j] += weight;
        const AffineFit fit = fit_affine(values, weights, search, coded.codes.data() + group * j);
        scales[j] = fit.scale;
        minimums[j] = fit.minimum;
    }
    const auto round = [&](const auto& factors, auto& codes) {
        if (!importance) return round_scales(factors, type.most_scale, codes);
        return f32_to_f16(fit_positive(factors, sums.data(), type.most_scale, codes.data()));
    };
    coded.d = round(scales, coded.scales);
    coded.dmin = round(minimums, coded.minimums);
    for (int j = 0; j < groups; j++) {
        const float d = f16_to_f32(coded.d) * float(coded.scales[j]);
        if (d == 0) continue;
        const float minimum = f16_to_f32(coded.dmin) * float(coded.minimums[j]);
        for (int i = group * j; i < group * (j + 1); i++) {
            coded.codes[i] = uint8_t(round_to_even((x[i] + minimum) / d, 0, most));
        }
    }
    return coded;
}

// The codes of a type without minimums, with the scales as they are stored.
void recode(const float* x, float d, int half, uint8_t* codes) {
    if (d == 0) return;
    for (int i = 0; i < 16; i++) {
        codes[i] = uint8_t(round_to_even(x[i] / d, -half, half - 1) + half);
    }
}

void put_q4_k_scales(const Coded<32>& coded, uint8_t* packed) {
    for (int j = 0; j < 4; j++) {
        const int scale = coded.scales[j + 4];
        const int minimum = coded.minimums[j + 4];
        packed[j] = uint8_t(coded.scales[j] | (scale >> 4) << 6);
        packed[j + 4] = uint8_t(coded.minimums[j] | (minimum >> 4) << 6);
        packed[j + 8] = uint8_t((scale & 15) | (minimum & 15) << 4);
    }
}

void encode_q2_k_block(const float* x, const float* importance, uint8_t* block) {
    constexpr AffineType type = {
        .search = {.most = 3, .first = -0.5f, .step = 0.1f, .steps = 15, .absolute = true},
        .deviation = false,
        .variance_factor = 1,
        .most_scale = 15};
    const auto coded = encode_affine<16>(x, importance, type);
    std::fill_n(block, 84, uint8_t(0));
    for (int j = 0; j < 16; j++) {
        block[j] = uint8_t(coded.scales[j] | coded.minimums[j] << 4);
    }
    for (int i = 0; i < block_size; i++) put_bits<2>(block + 16, i, coded.codes[i]);
    store(block + 80, coded.d);
    store(block + 82, coded.dmin);
}

void encode_q4_k_block(const float* x, const float* importance, uint8_t* block) {
    constexpr AffineType type = {
        .search = {.most = 15, .first = -1.0f, .step = 0.1f, .steps = 20, .absolute = false},
        .deviation = true,
        .variance_factor = 2,
        .most_scale = 63};
    const auto coded = encode_affine<32>(x, importance, type);
    std::fill_n(block, 144, uint8_t(0));
    store(block, coded.d);
    store(block + 2, coded.dmin);
    put_q4_k_scales(coded, block + 4);
    for (int i = 0; i < block_size; i++) put_bits<4>(block + 16, i, coded.codes[i]);
}

void encode_q5_k_block(const float* x, const float* importance, uint8_t* block) {
    constexpr AffineType type = {
        .search = {.most = 31, .first = -0.5f, .step = 0.1f, .steps = 15, .absolute = false},
        .deviation = true,
        .variance_factor = 2,
        .most_scale = 63};
    const auto coded = encode_affine<32>(x, importance, type);
    std::fill_n(block, 176, uint8_t(0));
    store(block, coded.d);
    store(block + 2, coded.dmin);
    put_q4_k_scales(coded, block + 4);
    for (int i = 0; i < block_size; i++) {
        put_bits<4>(block + 48, i, coded.codes[i]);
        put_bits<1>(block + 16, i, coded.codes[i] >> 4);
    }
}

// `scales` as codes 0..2 half - 1 around half, without weights: the extreme one gets 0.
std::array<uint8_t, 16> round_signed_scales(const std::array<float, 16>& scales, int half,
                                            float& d) {
    std::array<uint8_t, 16> codes{};
    const float inverse = float(-half) / extreme(scales);
    d = 0;
    if (!std::isfinite(inverse)) return codes;
    d = 1 / inverse;
    for (size_t j = 0; j < 16; j++) {
        codes[j] = uint8_t(round_to_even(inverse * scales[j], -half, half - 1) + half);
    }
    return codes;
}

void encode_q3_k_block(const float* x, const float* importance, uint8_t* block) {
    const float variance = block_variance(x, 2);
    std::array<uint8_t, block_size> codes;
    std::array<float, 16> scales;
    std::array<float, 16> sums{};
    for (int j = 0; j < 16; j++) {
        const std::span<const float> group(x + 16 * j, 16);
        float weights[16];
        weigh(group, importance ? importance + 16 * j : nullptr, variance, weights);
        for (float weight : weights) sums[j] += weight;
        const auto fit = importance ? fit_symmetric : descend_symmetric;
        scales[j] = fit(group, weights, 4, codes.data() + 16 * j);
    }
    std::array<uint8_t, 16> scale_codes{};
    float d = 0;
    if (importance) {
        d = fit_symmetric(scales, sums.data(), 32, scale_codes.data());
    } else {
        scale_codes = round_signed_scales(scales, 32, d);
    }
    std::fill_n(block, 110, uint8_t(0));
    store_f16(block + 108, d);
    d = load_f16(block + 108);
    for (int j = 0; j < 16; j++) {
        put_q3_k_scale(block + 96, j, scale_codes[j]);
        recode(x + 16 * j, d * float(scale_codes[j] - 32), 4, codes.data() + 16 * j);
    }
    for (int i = 0; i < block_size; i++) {
        put_bits<2>(block + 32, i, codes[i]);
        put_bits<1>(block, i, codes[i] >> 2);
    }
}

void encode_q6_k_block(const float* x, const float* importance, uint8_t* block) {
    std::array<uint8_t, block_size> codes;
    std::array<float, 16> scales;
    for (int j = 0; j < 16; j++) {
        const std::span<const float> group(x + 16 * j, 16);
        float weights[16];
        weigh(group, nullptr, 0, weights);
        const float* important = importance ? importance + 16 * j : nullptr;
        const bool any = important && any_positive({important, 16});
        scales[j] = fit_symmetric(group, any ? important : weights, 32, codes.data() + 16 * j);
    }
    std::fill_n(block, 210, uint8_t(0));
    if (!(std::fabs(extreme(scales)) >= negligible)) return;
    float d = 0;
    const auto scale_codes = round_signed_scales(scales, 128, d);
    store_f16(block + 208, d);
    d = load_f16(block + 208);
    for (int j = 0; j < 16; j++) {
        const int scale = scale_codes[j] - 128;
        block[192 + j] = uint8_t(int8_t(scale));
        recode(x + 16 * j, d * float(scale), 32, codes.data() + 16 * j);
    }
    for (int i = 0; i < block_size; i++) {
        put_bits<4, 64>(block, i, codes[i]);
        put_bits<2>(block + 128, i, codes[i] >> 4);
    }
}

// The extreme value gets -127, so that d has the opposite sign.
void encode_q8_k_block(const float* x, const float*, uint8_t* block) {
    std::fill_n(block, 292, uint8_t(0));
    const float inverse = -127.0f / extreme({x, block_size});
    if (!std::isfinite(inverse)) return;
    store(block, 1 / inverse);
    for (int j = 0; j < 16; j++) {
        int sum = 0;
        for (int i = 16 * j; i < 16 * (j + 1); i++) {
            const int code = round_to_even(inverse * x[i], -127, 127);
            block[4 + i] = uint8_t(int8_t(code));
            sum += code;
        }
        store(block + 260 + 2 * j, int16_t(sum));
    }
}

}  // namespace

void encode_q2_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 84>(values, importance, row, encode_q2_k_block);
}

void encode_q3_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 110>(values, importance, row, encode_q3_k_block);
}

void encode_q4_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 144>(values, importance, row, encode_q4_k_block);
}

void encode_q5_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 176>(values, importance, row, encode_q5_k_block);
}

void encode_q6_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 210>(values, importance, row, encode_q6_k_block);
}

void encode_q8_k(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<block_size, 292>(values, importance, row, encode_q8_k_block);
}

}  // namespace tandem::gguf
