// temper on the CPU: every token's row times a factor of its position.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "temper") && are_rows(operation.inputs[0].view, operation.output.view) ? 1
                                                                                                : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View y = site.view(operation.output), positions = site.view(operation.inputs[1]);
    const size_t columns = y.axes.size() - 1;
    const Rows from = *as_rows(site.view(operation.inputs[0]), columns), to = *as_rows(y, columns);
    const double beta = operation.node->attributes.number("beta");
    const double length = operation.node->attributes.number("length");
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t r = first; r < last; ++r) {
            const int32_t position = reinterpret_cast<const int32_t*>(positions.data)[r];
            const double factor = 1 + beta * std::log1p(std::floor(position / length));
            site.isa.scale(from.row(r), to.row(r), to.length, float(factor));
        }
    };
}

}  // namespace

extern const CpuKernel temper{
    .name = "temper", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
