// silu of a causal convolution over the last few tokens, a channel in each lane. Kernel and history
// come with the taps of a channel side by side; here a tap is a row of channels, as the inputs are.
// A row of inputs is read again for each tap, from the first cache.
//
//     for (token i, channel c) {                     // inputs before the first token: the state
//         float sum = kernel[c][0] * x[i - history][c];
//         for (int tap = 1; tap < taps; ++tap)
//             sum = fma(kernel[c][tap], x[i - history + tap][c], sum);
//         y[i][c] = sum / (1 + exp(-sum));
//     }
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

constexpr int64_t width = convolution_channels;

// rows[i][c] = columns[c][i]
inline void transpose(const float* columns, int64_t channels, int64_t count, float* rows) {
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < count; ++i) rows[i * width + c] = columns[c * count + i];
}

template <int known_taps>  // 0: as many as it says
void convolve_many(const Convolution& v) {
    const int64_t taps = known_taps > 0 ? known_taps : v.taps, history = taps - 1;
    float kernel[convolution_taps * width], past[convolution_taps * width];
    transpose(v.kernel, v.channels, taps, kernel);
    transpose(v.state, v.channels, history, past);
    // Input i of the new tokens; the past stands before them.
    auto input = [&](int64_t i) {
        return i < 0 ? past + (history + i) * width : v.x + i * v.x_stride;
    };
    for (int64_t token = 0; token < v.tokens; ++token) {
        const float* inputs[convolution_taps];
        for (int64_t tap = 0; tap < taps; ++tap) inputs[tap] = input(token + tap - history);
        float* y = v.y + token * v.y_stride;
        each(
            v.channels,
            [&](int64_t c) {
                F sum = mul(load_f32(kernel + c), load_f32(inputs[0] + c));
                for (int64_t tap = 1; tap < taps; ++tap)
                    sum = fma(load_f32(kernel + tap * width + c), load_f32(inputs[tap] + c), sum);
                store(y + c, gated(sum, sum));
            },
            [&](int64_t c) {
                float sum = 0;
                for (int64_t tap = 0; tap < taps; ++tap)
                    sum += kernel[tap * width + c] * inputs[tap][c];
                y[c] = gated(sum, sum);
            });
    }
    for (int64_t i = 0; i < history; ++i) {
        const float* row = input(v.tokens - history + i);
        for (int64_t c = 0; c < v.channels; ++c) v.state[c * history + i] = row[c];
    }
}

// Of one token there is more to transpose than to multiply: its channels are taken as they lie.
template <int known_taps>
void convolve_one(const Convolution& v) {
    const int64_t taps = known_taps > 0 ? known_taps : v.taps, history = taps - 1;
    for (int64_t c = 0; c < v.channels; ++c) {
        const float* kernel = v.kernel + c * taps;
        float* past = v.state + c * history;
        float sum = kernel[0] * past[0];
        for (int64_t tap = 1; tap < history; ++tap) sum += kernel[tap] * past[tap];
        sum += kernel[history] * v.x[c];
        for (int64_t tap = 1; tap < history; ++tap) past[tap - 1] = past[tap];
        past[history - 1] = v.x[c];
        v.y[c] = sum;
    }
    each(
        v.channels,
        [&](int64_t c) {
            const F sums = load_f32(v.y + c);
            store(v.y + c, gated(sums, sums));
        },
        [&](int64_t c) { v.y[c] = gated(v.y[c], v.y[c]); });
}

template <int known_taps>
void convolve(const Convolution& v) {
    v.tokens == 1 ? convolve_one<known_taps>(v) : convolve_many<known_taps>(v);
}

}  // namespace

void short_conv(const Convolution& v) { v.taps == 4 ? convolve<4>(v) : convolve<0>(v); }

}  // namespace tandem::kernels::cpu::TANDEM_ISA
