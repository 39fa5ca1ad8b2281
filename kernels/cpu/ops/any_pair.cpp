// add and mul on the CPU where the second operand has any of the axes of the first: rows of the
// last axis, each with a row or with one value.
#include "kernels/cpu/ops/combined_rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is_pair(operation)) return 0;
    const graph::View &a = operation.inputs[0].view, &b = operation.inputs[1].view;
    graph::Axis last = a.axes.back();
    bool row = !graph::contains(b.axes, last) || (b.axes.back() == last && b.strides.back() == 1);
    return row && as_rows(a, 1) && as_rows(operation.output.view, 1) ? 1 : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    Combine combine = combine_of_pair(operation, site.isa);
    graph::View a = site.view(operation.inputs[0]), b = site.view(operation.inputs[1]);
    graph::View y = site.view(operation.output);
    Rows from = *as_rows(a, 1), to = *as_rows(y, 1);
    // Of b, for each axis of a but the last.
    std::vector<int64_t> strides, extents(a.extents.begin(), a.extents.end() - 1);
    for (size_t i = 0; i + 1 < a.axes.size(); ++i) {
        int at = find(b.axes, a.axes[i]);
        strides.push_back(at < 0 ? 0 : b.strides[size_t(at)]);
    }
    bool one_value = !graph::contains(b.axes, a.axes.back());
    auto* values = reinterpret_cast<const float*>(b.data);
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        float* filled = worker.scratch(to.length);
        for (int64_t r = first; r < last; ++r) {
            int64_t at = 0, rest = r;
            for (size_t i = extents.size(); i-- > 0; rest /= extents[i])
                at += (i > 0 ? rest % extents[i] : rest) * strides[i];
            if (one_value) std::fill_n(filled, to.length, values[at]);
            combine(from.row(r), one_value ? filled : values + at, to.row(r), to.length);
        }
    };
}

}  // namespace

extern const CpuKernel any_pair{
    .name = "pair.any", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
