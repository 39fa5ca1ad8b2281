#include "kernels/vulkan/walk.h"

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

Walk walk(std::span<const graph::View> views, size_t rows_of) {
    check(views.size() <= walk_operands, "a walk has few operands");
    const graph::View& first = views[0];
    const size_t count = first.axes.size() - rows_of;
    const bool live = count > 0 && first.axes[0]->live();
    struct Run {
        int64_t extent = 1;
        std::array<int64_t, walk_operands> strides = {};
    };
    std::vector<Run> runs;
    Walk result;
    for (size_t i = 0; i < count; ++i) {
        const bool growing = live && i == 0;
        if (!growing) result.per_live *= uint32_t(first.extents[i]);
        if (first.extents[i] == 1 && !growing) continue;
        Run run{.extent = first.extents[i]};
        for (size_t j = 0; j < views.size(); ++j) {
            int at = find(views[j].axes, first.axes[i]);
            run.strides[j] = at < 0 ? 0 : views[j].strides[size_t(at)];
        }
        bool merges = !runs.empty();
        for (size_t j = 0; merges && j < views.size(); ++j)
            merges = runs.back().strides[j] == run.strides[j] * run.extent;
        if (merges) {
            run.extent *= runs.back().extent;
            runs.back() = run;
        } else {
            runs.push_back(run);
        }
    }
    if (runs.empty()) runs.push_back({});
    check(runs.size() <= walk_axes, "operands are walked along few axes");
    result.axes = uint32_t(runs.size());
    for (size_t i = 0; i < runs.size(); ++i) {
        result.extents[i] = uint32_t(runs[i].extent);
        for (size_t j = 0; j < views.size(); ++j)
            result.strides[j][i] = uint32_t(runs[i].strides[j]);
    }
    return result;
}

bool reads_fours(const Walk& walk, uint64_t x) {
    const uint32_t last = walk.axes - 1;
    bool whole = x % 16 == 0 && walk.strides[1][last] == 1 && walk.per_live % 4 == 0;
    for (uint32_t i = 0; i < last; ++i)
        whole = whole && walk.strides[1][i] % 4 == 0 && walk.extents[i + 1] % 4 == 0;
    return whole;
}

}  // namespace tandem::kernels::vulkan
