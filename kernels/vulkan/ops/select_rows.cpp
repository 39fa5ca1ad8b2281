// select_rows: the tokens whose logits are wanted.
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct SelectParameters {
    Address count, x, numbers, y;
    uint32_t length, x_stride, y_stride;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "select_rows") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View &x = operation.inputs[0].view, &y = operation.output.view;
    const Rows rows = rows_of(x, y, x.axes.size() - 1);
    const SelectParameters parameters{.count = site.count(y),
                                      .x = site.address(operation.inputs[0]),
                                      .numbers = site.address(operation.inputs[1]),
                                      .y = site.address(operation.output),
                                      .length = rows.length,
                                      .x_stride = uint32_t(x.strides[0]),
                                      .y_stride = uint32_t(y.strides[0])};
    return {{.shader = "select_rows",
             .constants = {elements_at_once},
             .parameters = Parameters(parameters),
             .x = {.units = rows.length, .per_group = elements_at_once, .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel select_rows{.name = "select_rows", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
