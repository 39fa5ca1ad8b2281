#include "kernels/vulkan/linear_chain.h"

#include "kernels/vulkan/chain.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/site.h"
#include "kernels/vulkan/units.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr uint32_t plus_like = 1, plus_row = 2, plus_both = 3, gated = 4;

// The operand that the result so far, of operation `length` - 1, is added to next; null where there
// is none.
const Operand* next_addend(std::span<const Operation> ahead, size_t length) {
    const int operand = ahead.size() > length ? addend_of(ahead[length - 1], ahead[length]) : -1;
    return operand < 0 ? nullptr : &ahead[length].inputs[size_t(operand)];
}

LinearChain with_additions(std::span<const Operation> ahead) {
    const Operand* first = next_addend(ahead, 1);
    if (!first) return {};
    if (lies_alike(first->view, ahead[1].output.view))
        return {.length = 2, .kind = plus_like, .others = {first}};
    const bool of_rows = first == &ahead[1].inputs[1] && is_dense(first->view) &&
                         first->view.axes == row_axes(ahead[0].inputs[1].view);
    if (!of_rows) return {};
    const Operand* second = next_addend(ahead, 2);
    if (second && lies_alike(second->view, ahead[2].output.view))
        return {.length = 3, .kind = plus_both, .others = {first, second}};
    return {.length = 2, .kind = plus_row, .others = {first}};
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
            .matrices = 2,
            .others = {&ahead[1 - gate].inputs[1]}};
}

}  // namespace

LinearChain linear_chain(std::span<const Operation> ahead) {
    const LinearChain chain = with_additions(ahead);
    return chain.length > 1 ? chain : with_unit(ahead);
}

}  // namespace tandem::kernels::vulkan
