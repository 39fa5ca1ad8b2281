// The gated delta rule on rows of a head's state, token by token:
//
//     S <- S decay,   delta = beta (v - S k),   S <- S + delta k^T,   out = S q
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The prediction needs the whole decayed row before the row changes, so that the row goes through
// the first cache twice.
void delta_step(const DeltaStep& s) {
    for (int64_t e = 0; e < s.count; ++e) {
        float* row = s.state + e * s.length;
        F sums = zero();
        float rest = 0;
        each(
            s.length,
            [&](int64_t i) {
                F decay = s.decays ? load_f32(s.decays + i) : splat(s.decay);
                F decayed = mul(load_f32(row + i), decay);
                store(row + i, decayed);
                sums = fma(decayed, load_f32(s.k + i), sums);
            },
            [&](int64_t i) {
                row[i] *= s.decays ? s.decays[i] : s.decay;
                rest += row[i] * s.k[i];
            });
        float delta = s.beta * (s.v[e] - (sum(sums) + rest));
        sums = zero();
        rest = 0;
        each(
            s.length,
            [&](int64_t i) {
                F updated = fma(load_f32(s.k + i), splat(delta), load_f32(row + i));
                store(row + i, updated);
                sums = fma(updated, load_f32(s.q + i), sums);
            },
            [&](int64_t i) {
                row[i] += delta * s.k[i];
                rest += row[i] * s.q[i];
            });
        s.out[e] = sum(sums) + rest;
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
