// pick: a copy that begins further on and leaves an axis out.
#include "kernels/vulkan/mapped.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "pick") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& y = operation.output.view;
    Operand x = operation.inputs[0];
    size_t picked = 0;
    while (contains(y.axes, x.view.axes[picked])) ++picked;
    const auto index = int64_t(operation.node->attributes.number("index"));
    x.offset += index * x.view.strides[picked] * 4;
    return mapped(Function::Same, 0, x, operation.output, y, site);
}

}  // namespace

extern const VulkanKernel pick{.name = "pick", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
