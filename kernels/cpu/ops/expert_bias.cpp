// expert_bias on the CPU: rows of the biases, weighted and added up.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "expert_bias")) return 0;
    for (size_t i : {0, 1, 2})
        if (!as_rows(operation.inputs[i].view, 1)) return 0;
    return as_rows(operation.output.view, 1) ? 1 : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    auto rows = [&](size_t operand) { return *as_rows(site.view(operation.inputs[operand]), 1); };
    graph::View y = site.view(operation.output);
    Rows ids = rows(0), weights = rows(1), biases = rows(2), to = *as_rows(y, 1);
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t t = first; t < last; ++t) {
            auto* chosen = reinterpret_cast<const int32_t*>(ids.row(t));
            std::fill_n(to.row(t), to.length, 0.0f);
            for (int64_t i = 0; i < ids.length; ++i)
                site.isa.add_scaled(biases.row(chosen[i]), weights.row(t)[i], to.row(t), to.length);
        }
    };
}

}  // namespace

extern const CpuKernel expert_bias{
    .name = "expert_bias", .claim = claim, .bind = bind, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
