// rope by itself. What only attention reads, it turns on its own (heads.h).
#include "graph/rope.h"

#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/turns.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct RopeParameters {
    Address count, x, y, positions, angles;
    uint32_t per_live, length, dims;
    float magnitude;
    Runs rows;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "rope") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::Rope rope = graph::rope_of(*operation.node);
    const Rows rows = rows_of(operation.inputs[0].view, operation.output.view, 1);
    const RopeParameters parameters{.count = site.count(operation.output.view),
                                    .x = site.address(operation.inputs[0]),
                                    .y = site.address(operation.output),
                                    .positions = site.address(operation.inputs[1]),
                                    .angles = keep_turns(operation, site),
                                    .per_live = rows.per_live,
                                    .length = rows.length,
                                    .dims = uint32_t(rope.dims),
                                    .magnitude = float(rope.magnitude),
                                    .rows = rows.runs};
    return {{.shader = "rope",
             .constants = {elements_at_once, rope.halves},
             .parameters = Parameters(parameters),
             .x = {.units = int64_t(rows.per_live) * (rows.length - uint32_t(rope.dims) / 2),
                   .per_group = elements_at_once,
                   .live = live(operation.output.view)}}};
}

}  // namespace

extern const VulkanKernel rope{.name = "rope", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
