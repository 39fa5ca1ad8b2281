// linear with activations in int8 blocks, for types of weights that have integer codes.
#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/linear_chain.h"
#include "kernels/vulkan/product.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& first = ahead[0];
    return is(first, "linear") && has_dots(first.inputs[1].view.dtype) ? linear_chain(ahead).length
                                                                       : 0;
}

const Form* form(const Operation& operation, size_t input) {
    if (!is(operation, "linear") || input != 0) return nullptr;
    check(ends_with_columns(operation), "the contracted axes are an operand's last");
    return &int8_blocks();
}

const Form* gives(std::span<const Operation> claimed) {
    return gives_blocks(claimed) ? &int8_blocks() : nullptr;
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operand& y = launch.operations.back().output;
    Product product = product_of(launch, site, dense_view(launch.operations[0].inputs[0].view));
    product.in_blocks = launch.given && !y;
    if (product.in_blocks) product.parameters.y = site.address(launch.given);
    std::vector<Dispatch> dispatches = in_dots(product, site);
    if (launch.given && y)
        dispatches.push_back(
            to_int8_blocks(y.view, site.address(y), site.address(launch.given), site));
    return dispatches;
}

}  // namespace

extern const VulkanKernel linear_dots{.name = "linear_dots",
                                      .claim = claim,
                                      .bind = bind,
                                      .form = form,
                                      .gives = gives,
                                      .needs = VulkanKernel::Needs::IntegerDots};

}  // namespace tandem::kernels::vulkan::ops
