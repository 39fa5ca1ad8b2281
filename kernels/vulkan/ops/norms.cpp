// rms_norm and l2_norm: a workgroup for each row.
#include <algorithm>

#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct NormParameters {
    Address count, x, weight, y, blocks;
    uint32_t per_live, length;
    float epsilon;
    Runs rows;
};

constexpr uint32_t most_held = 4;  // vectors of a row for an invocation, as it has registers

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "rms_norm") || is(ahead[0], "l2_norm") ? 1 : 0;
}

// Whole blocks of a row, and rows one after another.
const Form* gives(std::span<const Operation> claimed) {
    const graph::View& y = claimed[0].output.view;
    return y.extents.back() % 32 == 0 ? &int8_blocks() : nullptr;
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const bool rms = is(operation, "rms_norm");
    const bool weighted = rms && operation.inputs[1];
    const graph::View& x = operation.inputs[0].view;
    const size_t normed = weighted ? operation.inputs[1].view.axes.size() : 1;
    const Rows rows = rows_of(x, operation.output.view, normed);
    const NormParameters parameters{.count = site.count(x),
                                    .x = site.address(operation.inputs[0]),
                                    .weight = weighted ? site.address(operation.inputs[1]) : 0,
                                    .y = site.address(operation.output),
                                    .blocks = site.address(launch.given),
                                    .per_live = rows.per_live,
                                    .length = rows.length,
                                    .epsilon = float(operation.node->attributes.number("epsilon")),
                                    .rows = rows.runs};
    const uint32_t kind = weighted ? 0 : rms ? 1 : 2;
    bool aligned = rows.length % 4 == 0;
    for (Address address : {parameters.x, parameters.weight, parameters.y})
        aligned = aligned && address % 16 == 0;
    for (size_t i = 0; i < 3; ++i)
        aligned = aligned && rows.runs.from[i] % 4 == 0 && rows.runs.to[i] % 4 == 0;
    const uint32_t group = group_for(site, rows.length / 4);
    const uint32_t held = std::min((rows.length + group * 4 - 1) / (group * 4), most_held);
    return {{.shader = "norm",
             .constants = {group, kind, aligned, bool(operation.output), bool(launch.given), held},
             .parameters = Parameters(parameters),
             .x = {.units = rows.per_live, .live = live(x)}}};
}

}  // namespace

extern const VulkanKernel norms{.name = "norms", .claim = claim, .bind = bind, .gives = gives};

}  // namespace tandem::kernels::vulkan::ops
