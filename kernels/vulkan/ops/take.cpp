// take: the elements of rows that the ids name.
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct TakeParameters {
    Address count, y, ids, x;
    Walk walk;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "take") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& y = operation.output.view;
    // The scores lack the axis of the ids, so that the walk leads to the beginning of their row.
    const graph::View views[] = {y, operation.inputs[1].view, operation.inputs[0].view};
    const Walk walked = walk(views);
    const TakeParameters parameters{site.count(y), site.address(operation.output),
                                    site.address(operation.inputs[1]),
                                    site.address(operation.inputs[0]), walked};
    return {{.shader = "take",
             .constants = {elements_at_once},
             .parameters = Parameters(parameters),
             .x = {.units = walked.per_live, .per_group = elements_at_once, .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel take{.name = "take", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
