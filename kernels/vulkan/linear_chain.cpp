#include "kernels/vulkan/linear_chain.h"

#include "kernels/vulkan/chain.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/site.h"
#include "kernels/vulkan/units.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr uint32_t plus_like = 1, plus_row = 2, gated = 3;

graph::Shape row_axes(const Operation& linear) {
    const graph::View& w = linear.inputs[1].view;
    return {w.axes.begin(), w.axes.end() - int64_t(w.columns)};
}

bool is_dense(const graph::View& view) { return lies_together(view, view.axes.size()); }

LinearChain with_addition(std::span<const Operation> ahead) {
    const int operand = ahead.size() > 1 ? addend_of(ahead[0], ahead[1]) : -1;
    if (operand < 0) return {};
    const graph::View &addend = ahead[1].inputs[size_t(operand)].view, &y = ahead[1].output.view;
    LinearChain chain{.length = 2, .second = 1, .operand = size_t(operand)};
    if (lies_alike(addend, y))
        chain.kind = plus_like;
    else if (operand == 1 && addend.axes == row_axes(ahead[0]) && is_dense(addend))
        chain.kind = plus_row;
    else
        return {};
    return chain;
}

LinearChain with_unit(std::span<const Operation> ahead) {
    if (ahead.size() < 3 || !is(ahead[1], "linear") || !is(ahead[2], "glu")) return {};
    const size_t gate = reads(ahead[2], 0, ahead[0]) ? 0 : 1;
    const graph::View &first = ahead[0].inputs[1].view, &second = ahead[1].inputs[1].view;
    const bool alike = ahead[0].node->inputs[0].value == ahead[1].node->inputs[0].value &&
                       first.dtype == second.dtype && first.axes == second.axes &&
                       first.extents == second.extents;
    if (!alike || !read_only_by(ahead[0], 2) || !read_only_by(ahead[1], 1) ||
        !reads_all(ahead[2], 0, ahead[gate]) || !reads_all(ahead[2], 1, ahead[1 - gate]))
        return {};
    return {.length = 3,
            .kind = gated + gated_unit(ahead[2].node->attributes.word("activation")),
            .product = gate,
            .second = 1 - gate,
            .operand = 1};
}

}  // namespace

LinearChain linear_chain(std::span<const Operation> ahead) {
    const LinearChain chain = with_addition(ahead);
    return chain.length > 1 ? chain : with_unit(ahead);
}

}  // namespace tandem::kernels::vulkan
