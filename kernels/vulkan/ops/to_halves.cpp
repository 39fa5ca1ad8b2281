// Activations to halves: no op's kernel, but what prepares operands.
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct HalvesParameters {
    Address count, y, x;
    Walk walk;
};

constexpr uint32_t group = 128, elements_each = 8;

size_t never(std::span<const Operation>) { return 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operand& x = launch.operations[0].inputs[0];
    const Address from = site.address(x), to = site.address(launch.operations[0].output);
    const graph::View views[] = {dense_view(x.view), x.view};
    const HalvesParameters parameters{site.count(x.view), to, from, walk(views)};
    return {{.shader = "to_halves",
             .constants = {group, reads_fours(parameters.walk, from)},
             .parameters = Parameters(parameters),
             .x = {.units = parameters.walk.per_live,
                   .per_group = group * elements_each,
                   .live = live(x.view)}}};
}

}  // namespace

extern const VulkanKernel to_halves{.name = "to_halves", .claim = never, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
