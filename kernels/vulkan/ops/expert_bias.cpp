// expert_bias: the biases of the chosen experts, weighted and added up.
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct BiasParameters {
    Address count, ids, weights, biases, y;
    uint32_t length, used, ids_stride, weights_stride, y_stride;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "expert_bias") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const Operand &ids = operation.inputs[0], &weights = operation.inputs[1];
    const graph::View& y = operation.output.view;
    const BiasParameters parameters{.count = site.count(y),
                                    .ids = site.address(ids),
                                    .weights = site.address(weights),
                                    .biases = site.address(operation.inputs[2]),
                                    .y = site.address(operation.output),
                                    .length = uint32_t(y.extents[1]),
                                    .used = uint32_t(ids.view.extents[1]),
                                    .ids_stride = uint32_t(ids.view.strides[0]),
                                    .weights_stride = uint32_t(weights.view.strides[0]),
                                    .y_stride = uint32_t(y.strides[0])};
    return {{.shader = "expert_bias",
             .constants = {elements_at_once},
             .parameters = Parameters(parameters),
             .x = {.units = y.extents[1], .per_group = elements_at_once, .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel expert_bias{.name = "expert_bias", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
