// add, mul and glu on the CPU, over rows. The second operand of add and mul may be one row for all,
// or one value.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

using Combine = void (*)(const float*, const float*, float*, int64_t);

bool rows_agree(const Operation& operation) {
    size_t columns = operation.output.view.axes.size() - 1;
    return as_rows(operation.inputs[0].view, columns) && as_rows(operation.output.view, columns);
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
        worker.share(to.count(site.inputs(), y), first, last);
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

size_t claim_glu(std::span<const Operation> ahead) {
    return is(ahead[0], "glu") && rows_agree(ahead[0]) &&
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

extern const CpuKernel pair{.name = "pair", .claim = claim_pair, .bind = bind_pair};
extern const CpuKernel glu{.name = "glu", .claim = claim_glu, .bind = bind_glu};

}  // namespace tandem::kernels::cpu::ops
