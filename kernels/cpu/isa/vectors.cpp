// What is done element by element, or over one row: plain loops over vectors.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

template <typename Vector, typename Scalar>
inline void each(int64_t count, Vector vector, Scalar scalar) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) vector(i);
    for (; i < count; ++i) scalar(i);
}

}  // namespace

void rms_norm(const float* x, const float* weight, float epsilon, float* y, int64_t count) {
    F squares = zero();
    float rest = 0;
    each(
        count, [&](int64_t i) { squares = fma(load_f32(x + i), load_f32(x + i), squares); },
        [&](int64_t i) { rest += x[i] * x[i]; });
    float factor = 1 / __builtin_sqrtf((sum(squares) + rest) / float(count) + epsilon);
    each(
        count,
        [&](int64_t i) {
            store(y + i, mul(mul(load_f32(x + i), splat(factor)), load_f32(weight + i)));
        },
        [&](int64_t i) { y[i] = x[i] * factor * weight[i]; });
}

void add_arrays(const float* a, const float* b, float* y, int64_t count) {
    each(
        count, [&](int64_t i) { store(y + i, add(load_f32(a + i), load_f32(b + i))); },
        [&](int64_t i) { y[i] = a[i] + b[i]; });
}

void mul_arrays(const float* a, const float* b, float* y, int64_t count) {
    each(
        count, [&](int64_t i) { store(y + i, mul(load_f32(a + i), load_f32(b + i))); },
        [&](int64_t i) { y[i] = a[i] * b[i]; });
}

void silu_mul(const float* gate, const float* up, float* y, int64_t count) {
    each(
        count,
        [&](int64_t i) {
            F g = load_f32(gate + i);
            store(y + i, mul(gated(g, g), load_f32(up + i)));
        },
        [&](int64_t i) { y[i] = gated(gate[i], gate[i]) * up[i]; });
}

// gelu(x) = x / 2 (1 + tanh u) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
void gelu_mul(const float* gate, const float* up, float* y, int64_t count) {
    constexpr float twice_root = 1.5957691216057308f, cubic = 0.044715f;
    each(
        count,
        [&](int64_t i) {
            F g = load_f32(gate + i);
            F u = mul(mul(splat(twice_root), g), fma(mul(splat(cubic), g), g, splat(1.0f)));
            store(y + i, mul(gated(g, u), load_f32(up + i)));
        },
        [&](int64_t i) {
            float g = gate[i];
            y[i] = gated(g, twice_root * g * (1 + cubic * g * g)) * up[i];
        });
}

// g sigmoid(1.702 g) (u + 1), g at most 7 and u within 7 of 0
void clamped_swiglu(const float* gate, const float* up, float* y, int64_t count) {
    constexpr float limit = 7, slope = 1.702f;
    each(
        count,
        [&](int64_t i) {
            F g = min(load_f32(gate + i), splat(limit));
            F u = max(min(load_f32(up + i), splat(limit)), splat(-limit));
            store(y + i, mul(gated(g, mul(splat(slope), g)), add(u, splat(1.0f))));
        },
        [&](int64_t i) {
            float g = gate[i] < limit ? gate[i] : limit, u = up[i] < limit ? up[i] : limit;
            u = u > -limit ? u : -limit;
            y[i] = gated(g, slope * g) * (u + 1);
        });
}

void softmax(const float* x, float* y, int64_t count) {
    float most = x[0];
    for (int64_t i = 1; i < count; ++i) most = x[i] > most ? x[i] : most;
    F sums = zero();
    float rest = 0;
    each(
        count,
        [&](int64_t i) {
            F e = exp(sub(load_f32(x + i), splat(most)));
            store(y + i, e);
            sums = add(sums, e);
        },
        [&](int64_t i) { rest += y[i] = __builtin_expf(x[i] - most); });
    float factor = 1 / (sum(sums) + rest);
    each(
        count, [&](int64_t i) { store(y + i, mul(load_f32(y + i), splat(factor))); },
        [&](int64_t i) { y[i] *= factor; });
}

void add_scaled(const float* x, float weight, float* y, int64_t count) {
    each(
        count,
        [&](int64_t i) { store(y + i, fma(load_f32(x + i), splat(weight), load_f32(y + i))); },
        [&](int64_t i) { y[i] += weight * x[i]; });
}

float dot_arrays(const float* a, const float* b, int64_t count) {
    F sums = zero();
    float rest = 0;
    each(
        count, [&](int64_t i) { sums = fma(load_f32(a + i), load_f32(b + i), sums); },
        [&](int64_t i) { rest += a[i] * b[i]; });
    return sum(sums) + rest;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
