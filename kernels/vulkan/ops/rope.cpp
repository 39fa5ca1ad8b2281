// rope: angles as fractions of a turn, made when the launch is recorded.
#include "graph/rope.h"

#include <cmath>
#include <numbers>

#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct RopeParameters {
    Address count, x, y, positions, angles;
    uint32_t per_live, length, dims;
    float magnitude;
    Runs rows;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "rope") ? 1 : 0; }

// Radians as a fraction of a turn in 64 bits.
uint64_t fraction_of_turn(double radians) {
    const double turns = radians / (2 * std::numbers::pi);
    return uint64_t(std::ldexp(turns - std::floor(turns), 64));
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::Rope rope = graph::rope_of(*operation.node);
    std::vector<float> factors;
    if (operation.inputs[2]) factors = site.vectors.at(operation.inputs[2].value);
    std::vector<uint64_t> angles;
    for (double radians : graph::rope_angles(rope, factors))
        angles.push_back(fraction_of_turn(radians));
    const Rows rows = rows_of(operation.inputs[0].view, operation.output.view, 1);
    const RopeParameters parameters{.count = site.count(operation.output.view),
                                    .x = site.address(operation.inputs[0]),
                                    .y = site.address(operation.output),
                                    .positions = site.address(operation.inputs[1]),
                                    .angles = site.keep(std::as_bytes(std::span(angles))),
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
