// temper: queries grow with the distance that they look back over.
#include "gguf/error.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct TemperParameters {
    Address count, y, x, positions;
    float beta;
    uint32_t span;
    Walk walk;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "temper") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& y = operation.output.view;
    const graph::View views[] = {y, operation.inputs[0].view, operation.inputs[1].view};
    const double span = operation.node->attributes.number("length");
    check(span >= 1 && span == double(uint32_t(span)), "temper: spans are whole positions");
    const TemperParameters parameters{.count = site.count(y),
                                      .y = site.address(operation.output),
                                      .x = site.address(operation.inputs[0]),
                                      .positions = site.address(operation.inputs[1]),
                                      .beta = float(operation.node->attributes.number("beta")),
                                      .span = uint32_t(span),
                                      .walk = walk(views)};
    return {
        {.shader = "temper",
         .constants = {elements_at_once},
         .parameters = Parameters(parameters),
         .x = {.units = parameters.walk.per_live, .per_group = elements_at_once, .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel temper{.name = "temper", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
