#include "kernels/cpu/rows.h"

#include "gguf/error.h"

namespace tandem::kernels::cpu {

int64_t live_count(const graph::View& view, const graph::StepInputs& inputs) {
    if (view.axes.empty()) return 1;
    if (!view.axes[0]->live()) return view.extents[0];
    return view.axes[0]->name == "rows" ? int64_t(inputs.rows.size()) : inputs.tokens();
}

std::optional<Rows> as_rows(const graph::View& view, size_t columns) {
    size_t axes = view.axes.size();
    if (columns > axes || view.strides.size() != axes) return {};
    Rows rows{.data = reinterpret_cast<float*>(view.data), .length = 1};
    for (size_t i = axes; i-- > axes - columns;) {
        if (view.extents[i] > 1 && view.strides[i] != rows.length) return {};
        rows.length *= view.extents[i];
    }
    // The axes in front must be one run of rows, too.
    rows.stride = rows.length;
    bool first = true;
    int64_t expected = 0;
    for (size_t i = axes - columns; i-- > 0;) {
        bool live = view.axes[i]->live();
        if (view.extents[i] == 1 && !live) continue;
        if (first) {
            rows.stride = view.strides[i];
            first = false;
        } else if (view.strides[i] != expected) {
            return {};
        }
        expected = view.strides[i] * view.extents[i];
        if (live)
            rows.live = true;
        else
            rows.per_live *= view.extents[i];
    }
    return rows;
}

bool are_rows(const graph::View& x, const graph::View& y) {
    const size_t columns = y.axes.size() - 1;
    return as_rows(x, columns) && as_rows(y, columns);
}

int64_t Rows::count(const graph::StepInputs& inputs, const graph::View& view) const {
    return live ? per_live * live_count(view, inputs) : per_live;
}

Range Rows::share(const graph::StepInputs& inputs, const graph::View& view,
                  const Worker& worker) const {
    if (!live) {
        check(!worker.only, "rows of chosen tokens are rows of tokens");
        return worker.share(per_live);
    }
    return worker.share_rows(live_count(view, inputs), per_live);
}

}  // namespace tandem::kernels::cpu
