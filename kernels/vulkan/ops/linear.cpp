// linear in f32: for a few tokens a subgroup runs along rows of W, for many a workgroup computes a
// tile.
#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/linear_chain.h"
#include "kernels/vulkan/product.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "linear") ? linear_chain(ahead).length : 0;
}

// The contracted axes of x as W has them, one after another.
const Form* form(const Operation& operation, size_t input) {
    if (!is(operation, "linear") || input != 0) return nullptr;
    check(ends_with_columns(operation), "the contracted axes are an operand's last");
    return lies_together(operation.inputs[0].view, operation.inputs[1].view.columns) ? nullptr
                                                                                     : &dense();
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const graph::View &x = launch.operations[0].inputs[0].view,
                      &w = launch.operations[0].inputs[1].view;
    return in_floats(product_of(launch, site, lies_together(x, w.columns) ? x : dense_view(x)),
                     site);
}

}  // namespace

extern const VulkanKernel linear{.name = "linear", .claim = claim, .bind = bind, .form = form};

}  // namespace tandem::kernels::vulkan::ops
