// softmax and normalize: a workgroup for each row.
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct ShareParameters {
    Address count, x, y;
    uint32_t per_live, length;
    Runs rows;
};

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "softmax") || is(ahead[0], "normalize") ? 1 : 0;
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& x = operation.inputs[0].view;
    const Rows rows = rows_of(x, operation.output.view, 1);
    const ShareParameters parameters{.count = site.count(x),
                                     .x = site.address(operation.inputs[0]),
                                     .y = site.address(operation.output),
                                     .per_live = rows.per_live,
                                     .length = rows.length,
                                     .rows = rows.runs};
    return {{.shader = "shares",
             .constants = {group_for(site, rows.length), is(operation, "softmax")},
             .parameters = Parameters(parameters),
             .x = {.units = rows.per_live, .live = live(x)}}};
}

}  // namespace

extern const VulkanKernel shares{.name = "shares", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
