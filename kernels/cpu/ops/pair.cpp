// add and mul on the CPU, over rows. The second operand may be one row for all, or one value.
#include "kernels/cpu/ops/combined_rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

// The second operand has all axes of the first, or all but the first axis, or none.
size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is_pair(operation) || !rows_agree(operation)) return 0;
    const graph::View &a = operation.inputs[0].view, &b = operation.inputs[1].view;
    if (b.axes.empty()) return 1;
    bool same = b.axes == a.axes;
    bool one_row = graph::Shape(a.axes.begin() + 1, a.axes.end()) == b.axes;
    return (same || one_row) && as_rows(b, a.axes.size() - 1) ? 1 : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    return bind_rows(combine_of_pair(operation, site.isa), operation, site);
}

}  // namespace

extern const CpuKernel pair{
    .name = "pair", .claim = claim, .bind = bind, .in_place = 2, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
