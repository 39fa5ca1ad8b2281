// l2_norm on the CPU: y = x / max(|x|, epsilon), by row.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "l2_norm") && as_rows(operation.inputs[0].view, 1) &&
                   as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View y = site.view(operation.output);
    Rows from = *as_rows(site.view(operation.inputs[0]), 1), to = *as_rows(y, 1);
    float epsilon = float(operation.node->attributes.number("epsilon"));
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t r = first; r < last; ++r) {
            const float* x = from.row(r);
            float length = std::sqrt(site.isa.dot(x, x, to.length));
            float factor = 1 / std::max(length, epsilon);
            site.isa.scale(x, to.row(r), to.length, factor);
        }
    };
}

}  // namespace

extern const CpuKernel l2_norm{
    .name = "l2_norm", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
