// Joins what attention found in parts of a cache, for one query:
//
//     most = max of most[i] and the sink
//     y = sum of out[i] e^(most[i] - most) / (sum of total[i] e^(most[i] - most) + e^(sink - most))
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/attention_weights.h"
#include "kernels/cpu/isa/kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

void attend_join(const AttentionParts& a) {
    float most = a.sink ? *a.sink : unseen;
    for (int64_t i = 0; i < a.parts; ++i)
        most = a.most[i * a.stride] > most ? a.most[i * a.stride] : most;
    // A part in which the query sees nothing has a maximum of -infinity, so it counts nothing.
    auto share = [&](float score) { return score == most ? 1.0f : __builtin_expf(score - most); };
    float total = a.sink ? share(*a.sink) : 0;
    for (int64_t i = 0; i < a.parts; ++i)
        total += a.total[i * a.stride] * share(a.most[i * a.stride]);
    for (int64_t i = 0; i < a.parts; ++i) {
        const float* out = a.out + i * a.stride;
        const float factor = share(a.most[i * a.stride]) / total;
        each(
            a.length,
            [&](int64_t e) {
                F sum = mul(load_f32(out + e), splat(factor));
                store(a.y + e, i == 0 ? sum : add(load_f32(a.y + e), sum));
            },
            [&](int64_t e) { a.y[e] = out[e] * factor + (i == 0 ? 0 : a.y[e]); });
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
