// pick on the CPU: copies the rows at one index of an axis.
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Where the picked axis is among those of x.
size_t axis_of(const Operation& operation) {
    const graph::Shape& axes = operation.inputs[0].view.axes;
    size_t at = 0;
    while (graph::contains(operation.output.view.axes, axes[at])) ++at;
    return at;
}

// x without the axis; its data are those at index 0.
graph::View without_axis(graph::View x, size_t axis) {
    x.axes.erase(x.axes.begin() + int64_t(axis));
    for (auto* numbers : {&x.extents, &x.begins, &x.strides})
        numbers->erase(numbers->begin() + int64_t(axis));
    return x;
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "pick")) return 0;
    const graph::View x = without_axis(operation.inputs[0].view, axis_of(operation));
    return are_rows(x, operation.output.view) ? 1 : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View x = site.view(operation.inputs[0]), y = site.view(operation.output);
    const size_t axis = axis_of(operation), columns = y.axes.size() - 1;
    const auto index = int64_t(operation.node->attributes.number("index"));
    Rows from = *as_rows(without_axis(x, axis), columns), to = *as_rows(y, columns);
    from.data += index * x.strides[axis];
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t r = first; r < last; ++r) std::copy_n(from.row(r), to.length, to.row(r));
    };
}

}  // namespace

extern const CpuKernel pick{.name = "pick", .claim = claim, .bind = bind, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
