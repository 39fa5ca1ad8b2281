// Kernels that make one row of two: add, mul and glu.
#pragma once

#include <algorithm>

#include "kernels/cpu/ops/row_parts.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

using Combine = void (*)(const float* a, const float* b, float* y, int64_t count);

inline bool is_pair(const Operation& operation) {
    return is(operation, "add") || is(operation, "mul");
}
inline Combine combine_of_pair(const Operation& operation, const Isa& isa) {
    return is(operation, "add") ? isa.add : isa.mul;
}

inline bool rows_agree(const Operation& operation) {
    return are_rows(operation.inputs[0].view, operation.output.view);
}

// Combines rows over all axes but the first, where rows_agree(). The second operand has all axes of
// the first, or all but the first axis: one row for all; or none: one value.
inline Task bind_rows(Combine combine, const Operation& operation, const Site& site) {
    graph::View a = site.view(operation.inputs[0]), b = site.view(operation.inputs[1]);
    graph::View y = site.view(operation.output);
    size_t columns = y.axes.size() - 1;
    Rows from_a = *as_rows(a, columns), to = *as_rows(y, columns);
    bool one_value = b.axes.empty() && columns > 0, repeated = b.axes.size() < a.axes.size();
    Rows from_b = *as_rows(b, one_value ? 0 : columns);
    return [=](const Worker& worker) {
        float* row = from_b.data;  // where it is the same for all
        if (one_value) {
            row = worker.scratch(to.length);
            std::fill_n(row, to.length, *from_b.data);
        }
        const int64_t tokens = to.live ? live_count(y, site.inputs()) : 1;
        each_row_part(tokens, to.per_live, to.length, worker, [&](int64_t r, Range columns) {
            const float* b_row = repeated ? row : from_b.row(r);
            combine(from_a.row(r) + columns.first, b_row + columns.first, to.row(r) + columns.first,
                    columns.count());
        });
    };
}

}  // namespace tandem::kernels::cpu::ops
