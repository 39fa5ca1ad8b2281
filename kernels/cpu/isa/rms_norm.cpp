// A row divided by the root of the mean of its squares, times weights:
//
//     float squares = 0;                               // a sum in each lane, then those
//     for (i) squares = fma(x[i], x[i], squares);
//     float factor = 1 / sqrt(squares / count + epsilon);
//     for (i) y[i] = (x[i] * factor) * weight[i];
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

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

}  // namespace tandem::kernels::cpu::TANDEM_ISA
