// add, mul and glu on the CPU, over rows. The second operand of add and mul may be one row for all,
// or one value.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

using Combine = void (*)(const float*, const float*, float*, int64_t);

bool rows_agree(const Operation& operation) {
    return are_rows(operation.inputs[0].view, operation.output.view);
}

// The second operand has all axes of the first, or all but the first axis, or none.
size_t claim_pair(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "add") && !is(operation, "mul")) return 0;
    const graph::View &a = operation.inputs[0].view, &b = operation.inputs[1].view;
    if (!rows_agree(operation)) return 0;
    if (b.axes.empty()) return 1;
    bool same = b.axes == a.axes;
    bool one_row = graph::Shape(a.axes.begin() + 1, a.axes.end()) == b.axes;
    return (same || one_row) && as_rows(b, a.axes.size() - 1) ? 1 : 0;
}

Task bind_rows(Combine combine, const Operation& operation, const Site& site) {
    graph::View a = site.view(operation.inputs[0]), b = site.view(operation.inputs[1]);
    graph::View y = site.view(operation.output);
    size_t columns = y.axes.size() - 1;
    Rows from_a = *as_rows(a, columns), to = *as_rows(y, columns);
    bool one_value = b.axes.empty() && columns > 0, repeated = b.axes.size() < a.axes.size();
    Rows from_b = *as_rows(b, one_value ? 0 : columns);
    return [=](const Worker& worker) {
        int64_t first, last;
        to.share(site.inputs(), y, worker, first, last);
        float* row = from_b.data;  // where it is the same for all
        if (one_value) {
            row = worker.scratch(to.length);
            std::fill_n(row, to.length, *from_b.data);
        }
        for (int64_t r = first; r < last; ++r)
            combine(from_a.row(r), repeated ? row : from_b.row(r), to.row(r), to.length);
    };
}

Task bind_pair(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    return bind_rows(is(operation, "add") ? site.isa.add : site.isa.mul, operation, site);
}

// The second operand has any of the axes of the first: rows of the last axis, each with a row or
// with one value.
size_t claim_any_pair(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "add") && !is(operation, "mul")) return 0;
    const graph::View &a = operation.inputs[0].view, &b = operation.inputs[1].view;
    graph::Axis last = a.axes.back();
    bool row = !graph::contains(b.axes, last) || (b.axes.back() == last && b.strides.back() == 1);
    return row && as_rows(a, 1) && as_rows(operation.output.view, 1) ? 1 : 0;
}

Task bind_any_pair(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    Combine combine = is(operation, "add") ? site.isa.add : site.isa.mul;
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
        int64_t first, last;
        to.share(site.inputs(), y, worker, first, last);
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

size_t claim_glu(std::span<const Operation> ahead) {
    if (!is(ahead[0], "glu")) return 0;
    const std::string_view activation = ahead[0].node->attributes.word("activation");
    return (activation == "silu" || activation == "gelu") && rows_agree(ahead[0]) &&
                   as_rows(ahead[0].inputs[1].view, ahead[0].inputs[1].view.axes.size() - 1)
               ? 1
               : 0;
}

Task bind_glu(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    bool silu = operation.node->attributes.word("activation") == "silu";
    return bind_rows(silu ? site.isa.silu_mul : site.isa.gelu_mul, operation, site);
}

}  // namespace

extern const CpuKernel pair{
    .name = "pair", .claim = claim_pair, .bind = bind_pair, .in_place = 2, .by_tokens = true};
extern const CpuKernel any_pair{.name = "pair.any",
                                .claim = claim_any_pair,
                                .bind = bind_any_pair,
                                .in_place = 1,
                                .by_tokens = true};
extern const CpuKernel glu{
    .name = "glu", .claim = claim_glu, .bind = bind_glu, .in_place = 2, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
