// The softmax of a row:
//
//     float most = max of x[i], total = 0;
//     for (i) total += y[i] = exp(x[i] - most);        // a sum in each lane, then those
//     for (i) y[i] *= 1 / total;
//
// One that is no number spoils all.
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

void softmax(const float* x, float* y, int64_t count) {
    float most = x[0];
    for (int64_t i = 1; i < count; ++i) most = x[i] > most ? x[i] : most;
    F sums = zero();
    float rest = 0;
    each(
        count,
        [&](int64_t i) {
            F e = add(exp(sub(load_f32(x + i), splat(most))), zero_if_number(load_f32(x + i)));
            store(y + i, e);
            sums = add(sums, e);
        },
        [&](int64_t i) { rest += y[i] = __builtin_expf(x[i] - most); });
    float factor = 1 / (sum(sums) + rest);
    each(
        count, [&](int64_t i) { store(y + i, mul(load_f32(y + i), splat(factor))); },
        [&](int64_t i) { y[i] *= factor; });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
