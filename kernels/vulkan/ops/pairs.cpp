// add, mul and glu: two numbers to one. The second operand may lack axes of the first.
#include "gguf/error.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/units.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct PairParameters {
    Address count, y, a, b;
    Walk walk;
};

// The numbers of the functions in pair.comp; nothing for other ops.
std::optional<uint32_t> kind_of(const Operation& operation) {
    if (is(operation, "add")) return 0;
    if (is(operation, "mul")) return 1;
    if (is(operation, "glu")) return 2 + gated_unit(operation.node->attributes.word("activation"));
    return {};
}

size_t claim(std::span<const Operation> ahead) { return kind_of(ahead[0]) ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& y = operation.output.view;
    const graph::View views[] = {y, operation.inputs[0].view, operation.inputs[1].view};
    const Walk walked = walk(views);
    const PairParameters parameters{site.count(y), site.address(operation.output),
                                    site.address(operation.inputs[0]),
                                    site.address(operation.inputs[1]), walked};
    return {{.shader = "pair",
             .constants = {elements_at_once, *kind_of(operation)},
             .parameters = Parameters(parameters),
             .x = {.units = walked.per_live, .per_group = elements_at_once, .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel pairs{.name = "pairs", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
