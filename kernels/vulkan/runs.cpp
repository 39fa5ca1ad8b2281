#include "kernels/vulkan/runs.h"

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

Runs runs_of(const graph::Shape& axes, const std::vector<int64_t>& extents, const graph::View& from,
             const graph::View& to) {
    struct Run {
        int64_t extent, from, to;
    };
    std::vector<Run> runs;
    auto stride = [](const graph::View& view, graph::Axis axis) {
        int at = find(view.axes, axis);
        return at < 0 ? 0 : view.strides[size_t(at)];
    };
    for (size_t i = 0; i < axes.size(); ++i) {
        const bool growing = i == 0 && axes[i]->live();
        if (extents[i] == 1 && !growing) continue;
        Run run{extents[i], stride(from, axes[i]), stride(to, axes[i])};
        const bool merges = !runs.empty() && runs.back().from == run.from * run.extent &&
                            runs.back().to == run.to * run.extent;
        if (merges) run.extent *= runs.back().extent, runs.pop_back();
        runs.push_back(run);
    }
    check(runs.size() <= 3, "operands have few runs");
    Runs result;
    for (size_t i = 0; i < runs.size(); ++i) {
        if (i > 0) result.extents[i - 1] = uint32_t(runs[i].extent);
        result.from[i] = uint32_t(runs[i].from);
        result.to[i] = uint32_t(runs[i].to);
    }
    return result;
}

Rows rows_of(const graph::View& view, const graph::View& result, size_t rows_of) {
    const size_t outer = view.axes.size() - rows_of;
    Rows rows;
    for (size_t i = 0; i < view.axes.size(); ++i) {
        const bool growing = i == 0 && view.axes[i]->live();
        uint32_t& product = i < outer ? rows.per_live : rows.length;
        if (!growing) product *= uint32_t(view.extents[i]);
    }
    check(lies_together(view, rows_of), "a row lies in one piece");
    rows.runs =
        runs_of({view.axes.begin(), view.axes.begin() + int64_t(outer)},
                {view.extents.begin(), view.extents.begin() + int64_t(outer)}, view, result);
    return rows;
}

graph::Shape row_axes(const graph::View& matrix) {
    return {matrix.axes.begin(), matrix.axes.end() - int64_t(matrix.columns)};
}

bool lies_together(const graph::View& view, size_t columns) {
    int64_t expected = 1;
    for (size_t i = view.axes.size(); i-- > view.axes.size() - columns;) {
        if (view.extents[i] == 1) continue;
        if (view.strides[i] != expected) return false;
        expected *= view.extents[i];
    }
    return true;
}

}  // namespace tandem::kernels::vulkan
