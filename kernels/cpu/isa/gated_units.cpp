// Gated units, element by element: a function of the gate times the other half. exp() is that of
// vector_math.h in vectors; the rest takes the library's.
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// g sigmoid(g) u
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

// g sigmoid(1.702 g) (u + 1), g at most 7 and u within 7 of 0. What is no number stays none.
void clamped_swiglu(const float* gate, const float* up, float* y, int64_t count) {
    constexpr float limit = 7, slope = 1.702f;
    each(
        count,
        [&](int64_t i) {
            F g = min(splat(limit), load_f32(gate + i));
            F u = max(splat(-limit), min(splat(limit), load_f32(up + i)));
            store(y + i, mul(gated(g, mul(splat(slope), g)), add(u, splat(1.0f))));
        },
        [&](int64_t i) {
            float g = gate[i] > limit ? limit : gate[i], u = up[i] > limit ? limit : up[i];
            u = u < -limit ? -limit : u;
            y[i] = gated(g, slope * g) * (u + 1);
        });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
