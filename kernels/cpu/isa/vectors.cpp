// Sums and products of two arrays: y[i] = a[i] + b[i], y[i] = a[i] * b[i], y[i] = fma(x[i], weight,
// y[i]), and the sum of fma(a[i], b[i], sum), one in each lane.
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

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
