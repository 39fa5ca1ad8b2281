// Copies into dense memory: no op's kernel, but what prepares operands and exchanges.
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/mapped.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t never(std::span<const Operation>) { return 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    return mapped(Function::Same, 0, operation.inputs[0], operation.output,
                  dense_view(operation.output.view), site);
}

}  // namespace

extern const VulkanKernel copy{.name = "copy", .claim = never, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
