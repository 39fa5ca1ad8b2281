// Gated units, element by element: a function of the gate times the other half.
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// g sigmoid(g) u
void silu_mul(const float* gate, const float* up, float* y, int64_t count) {
    map({gate, up}, y, count, [](F g, F u) { return mul(gated(g, g), u); });
}

// gelu(g) u, where gelu(x) = x / 2 (1 + tanh w) = x sigmoid(2w), w = sqrt(2/pi) (x + 0.044715 x^3)
void gelu_mul(const float* gate, const float* up, float* y, int64_t count) {
    constexpr float twice_root = 1.5957691216057308f, cubic = 0.044715f;
    map({gate, up}, y, count, [](F g, F u) {
        const F twice_w = mul(mul(splat(twice_root), g), fma(mul(splat(cubic), g), g, splat(1.0f)));
        return mul(gated(g, twice_w), u);
    });
}

// g sigmoid(1.702 g) (u + 1), g at most 7 and u within 7 of 0. What is no number stays none.
void clamped_swiglu(const float* gate, const float* up, float* y, int64_t count) {
    constexpr float limit = 7, slope = 1.702f;
    map({gate, up}, y, count, [](F g, F u) {
        g = min(splat(limit), g);
        u = max(splat(-limit), min(splat(limit), u));
        return mul(gated(g, mul(splat(slope), g)), add(u, splat(1.0f)));
    });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
