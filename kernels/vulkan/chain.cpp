#include "kernels/vulkan/chain.h"

#include "kernels/vulkan/runs.h"

namespace tandem::kernels::vulkan {

int addend_of(const Operation& ahead, const Operation& next, int distance) {
    if (!is(next, "add") || !read_only_by(ahead, distance)) return -1;
    const size_t own = reads(next, 0, ahead) ? 0 : 1;
    // An axis of length 1 may have any stride.
    const bool whole = reads_all(next, own, ahead) && !reads(next, 1 - own, ahead) &&
                       next.inputs[own].view.axes == next.output.view.axes;
    return whole ? int(1 - own) : -1;
}

bool is_dense(const graph::View& view) { return lies_together(view, view.axes.size()); }

bool lies_alike(const graph::View& addend, const graph::View& sum) {
    return addend.axes == sum.axes && is_dense(addend) && is_dense(sum);
}

}  // namespace tandem::kernels::vulkan
