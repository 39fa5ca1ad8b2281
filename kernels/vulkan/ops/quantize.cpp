// Rounds activations to int8 blocks: no op's kernel, but what prepares operands.
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan {

namespace {

struct QuantizeParameters {
    Address count, y, x;
    Walk walk;
};

constexpr uint32_t group = 128, elements_each = 4;

}  // namespace

Dispatch to_int8_blocks(const graph::View& x, Address x_at, Address y_at, const Site& site) {
    const graph::View views[] = {dense_view(x), x};
    const QuantizeParameters parameters{site.count(x), y_at, x_at, walk(views)};
    return {.shader = "quantize",
            .constants = {group, reads_fours(parameters.walk, parameters.x)},
            .parameters = Parameters(parameters),
            .x = {.units = parameters.walk.per_live,
                  .per_group = group * elements_each,
                  .live = live(x)}};
}

namespace ops {

namespace {

size_t never(std::span<const Operation>) { return 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operand &x = launch.operations[0].inputs[0], &y = launch.operations[0].output;
    return {to_int8_blocks(x.view, site.address(x), site.address(y), site)};
}

}  // namespace

extern const VulkanKernel quantize{.name = "quantize", .claim = never, .bind = bind};

}  // namespace ops

}  // namespace tandem::kernels::vulkan
