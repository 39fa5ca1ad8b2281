// delta_net, one token after the other: a subgroup for some rows of a head's state.
#include "graph/ops/delta_net.h"

#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct DeltaParameters {
    Address sequence_count, sequences, q, k, v, decay, beta, state, y;
    uint32_t q_stride, k_stride, v_stride, decay_stride, beta_stride, y_stride;
    uint32_t row_bytes;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "delta_net") ? 1 : 0; }

// What belongs to a token lies together.
bool tokens_lie_together(const graph::View& view) {
    return lies_together(view, view.axes.size() - 1);
}

const Form* form(const Operation& operation, size_t input) {
    constexpr size_t state = 5;
    return input == state || tokens_lie_together(operation.inputs[input].view) ? nullptr : &dense();
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const std::vector<Operand>& inputs = operation.inputs;
    const graph::View &q = inputs[0].view, &v = inputs[2].view, &y = operation.output.view;
    auto stride = [&](size_t input) {
        const graph::View& view = inputs[input].view;
        return uint32_t((tokens_lie_together(view) ? view : dense_view(view)).strides[0]);
    };
    check(tokens_lie_together(y), "what a delta net gives of a token lies together");
    const graph::ops::DeltaHeads heads(q, v);
    const int64_t length = q.extents.back(), rows = v.extents.back();
    const bool per_channel = inputs[3].view.axes.size() == v.axes.size();
    const DeltaParameters parameters{
        .sequence_count = site.step.sequence_count,
        .sequences = site.step.sequences,
        .q = site.address(inputs[0]),
        .k = site.address(inputs[1]),
        .v = site.address(inputs[2]),
        .decay = site.address(inputs[3]),
        .beta = site.address(inputs[4]),
        .state = site.address(inputs[5]),
        .y = site.address(operation.output),
        .q_stride = stride(0),
        .k_stride = stride(1),
        .v_stride = stride(2),
        .decay_stride = stride(3),
        .beta_stride = stride(4),
        .y_stride = uint32_t(y.strides[0]),
        .row_bytes = uint32_t(plane_row_bytes(gguf::DType::F32, length))};
    const auto subgroup = uint32_t(site.features.subgroup);
    const uint32_t group = subgroups(site, 4), rows_at_once = 2;
    const uint32_t held = (uint32_t(length) + subgroup - 1) / subgroup;
    const int64_t runs = (rows + rows_at_once - 1) / rows_at_once;
    return {
        {.shader = "delta_steps",
         .constants = {group, uint32_t(length), held, rows_at_once, uint32_t(heads.count),
                       uint32_t(rows), uint32_t(heads.keys), uint32_t(heads.stride), per_channel},
         .parameters = Parameters(parameters),
         .x = {.units = heads.count * runs, .per_group = group / subgroup},
         .y = {.units = std::min<int64_t>(y.extents[0], sequences_at_once)}}};
}

}  // namespace

extern const VulkanKernel delta_net{
    .name = "delta_net", .claim = claim, .bind = bind, .form = form};

}  // namespace tandem::kernels::vulkan::ops
