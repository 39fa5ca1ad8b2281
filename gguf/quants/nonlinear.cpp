// IQ4_NL and IQ4_XS: 4 bit indices into 16 uneven levels. @n is a field's place in its block.
#include "gguf/quants/nonlinear.h"

#include <algorithm>
#include <cmath>

#include "gguf/quants/quants.h"
#include "gguf/quants/rounding.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/search.h"

namespace tandem::gguf {

namespace {

void put_levels(float scale, const uint8_t* q, float* x) {
    for (int i = 0; i < 16; i++) {
        x[i] = scale * float(nonlinear_levels[q[i] & 15]);
        x[i + 16] = scale * float(nonlinear_levels[q[i] >> 4]);
    }
}

uint8_t nearest_level(float value) {
    if (!(value > float(nonlinear_levels.front()))) return 0;
    if (value >= float(nonlinear_levels.back())) return 15;
    uint8_t above = 1;
    while (value >= float(nonlinear_levels[above])) above++;
    const float to_below = value - float(nonlinear_levels[above - 1]);
    const float to_above = float(nonlinear_levels[above]) - value;
    return to_below < to_above ? uint8_t(above - 1) : above;
}

// The scale of 32 values, of either sign: the extreme value is put on the lowest level, and then
// near it.
float fit_levels(const float* x, const float* weights) {
    const float most = extreme({x, 32});
    if (!(std::fabs(most) >= negligible)) return 0;
    float scale = 0;
    float best = 0;
    const auto attempt = [&](float inverse, bool first) {
        float p = 0;
        float q = 0;
        for (int i = 0; i < 32; i++) {
            const auto level = float(nonlinear_levels[nearest_level(inverse * x[i])]);
            p += weights[i] * level * x[i];
            q += weights[i] * level * level;
        }
        if (!(q > 0 && (first || p * p > best * q))) return;
        scale = p / q;
        best = scale * p;
    };
    const auto lowest = float(nonlinear_levels[0]);
    attempt(1 / (-most / lowest), true);
    for (int k = -7; k <= 7; k++) attempt((float(k) + lowest) / most, false);
    return scale;
}

void put_nearest(const float* x, float scale, uint8_t* q) {
    const float inverse = reciprocal(scale);
    for (int i = 0; i < 16; i++) {
        q[i] = uint8_t(nearest_level(inverse * x[i]) | nearest_level(inverse * x[i + 16]) << 4);
    }
}

void encode_iq4_nl_block(const float* x, const float* importance, uint8_t* block) {
    float weights[32];
    weigh({x, 32}, importance, 2 * sum_of_squares({x, 32}) / 32, weights);
    const float scale = fit_levels(x, weights);
    store_f16(block, scale);
    put_nearest(x, scale, block + 2);
}

void encode_iq4_xs_block(const float* x, const float* importance, uint8_t* block) {
    const float variance = 2 * sum_of_squares({x, 256}) / 256;
    float scales[8];
    for (int j = 0; j < 8; j++) {
        const float* group = x + 32 * j;
        float weights[32];
        weigh({group, 32}, importance ? importance + 32 * j : nullptr, variance, weights);
        scales[j] = fit_levels(group, weights);
    }
    const float d = -extreme(scales) / 32;
    const float inverse = reciprocal(d);
    std::fill_n(block, 136, uint8_t(0));
    store_f16(block, d);
    int high = 0;
    for (int j = 0; j < 8; j++) {
        const int scale = round_to_even(inverse * scales[j], -32, 31);
        put_nearest(x + 32 * j, d * float(scale), block + 8 + 16 * j);
        block[4 + j / 2] |= uint8_t(((scale + 32) & 15) << (4 * (j % 2)));
        high |= ((scale + 32) >> 4) << (2 * j);
    }
    store(block + 2, uint16_t(high));
}

}  // namespace

// d f16 @0, q u4[32] @2: x = d L[q]
void decode_iq4_nl(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 18>(row, values, [](const uint8_t* block, float* x) {
        put_levels(load_f16(block), block + 2, x);
    });
}

// d f16 @0, high bits of S u2[8] @2, low bits of S u4[8] @4, q u4[256] @8: x = d (S - 32) L[q];
// groups of 32
void decode_iq4_xs(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 136>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const int high = load<uint16_t>(block + 2);
        for (int j = 0; j < 8; j++, x += 32) {
            const int low = (block[4 + j / 2] >> (4 * (j % 2))) & 15;
            const int scale = low | ((high >> (2 * j)) & 3) << 4;
            put_levels(d * float(scale - 32), block + 8 + 16 * j, x);
        }
    });
}

void encode_iq4_nl(std::span<const float> values, std::span<const float> importance,
                   std::byte* row) {
    encode_blocks<32, 18>(values, importance, row, encode_iq4_nl_block);
}

void encode_iq4_xs(std::span<const float> values, std::span<const float> importance,
                   std::byte* row) {
    encode_blocks<256, 136>(values, importance, row, encode_iq4_xs_block);
}

}  // namespace tandem::gguf
