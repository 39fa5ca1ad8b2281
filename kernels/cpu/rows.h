// Operands seen as rows: most kernels work on f32 rows that lie a fixed distance apart.
#pragma once

#include <optional>

#include "graph/op.h"
#include "kernels/cpu/team.h"

namespace tandem::kernels::cpu {

// Elements row r, column c at data + r * stride + c.
struct Rows {
    float* data = nullptr;
    int64_t stride = 0;    // floats
    int64_t length = 0;    // of a row
    int64_t per_live = 1;  // rows per token (or wanted row)
    bool live = false;     // the number of rows is per_live * live count, else per_live

    float* row(int64_t r) const { return data + r * stride; }
    int64_t count(const graph::StepInputs& inputs, const graph::View& view) const;
    // Those that are the worker's.
    Range share(const graph::StepInputs& inputs, const graph::View& view,
                const Worker& worker) const;
};

// The view as rows over its last `columns` axes; nothing where its strides do not allow it.
std::optional<Rows> as_rows(const graph::View& view, size_t columns);

// Whether both are rows over as many axes as y has behind its first.
bool are_rows(const graph::View& x, const graph::View& y);

// The number of live elements of the view's first axis: tokens or wanted rows; its extent if fixed.
int64_t live_count(const graph::View& view, const graph::StepInputs& inputs);

}  // namespace tandem::kernels::cpu
