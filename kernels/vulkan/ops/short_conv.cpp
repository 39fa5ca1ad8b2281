// short_conv: a causal convolution over the last few tokens of every sequence.
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct ConvParameters {
    Address count, sequence_count, sequences, sequence_of, x, kernel, state, y;
    uint32_t channels, row_bytes, x_stride, y_stride;
    Runs at_channel;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "short_conv") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View &x = operation.inputs[0].view, &y = operation.output.view;
    const int64_t history = operation.inputs[2].view.row_length();
    const int64_t channels = y.elements() / y.extents[0];
    const StandingAddresses standing = site.standing(y);
    const ConvParameters parameters{
        .count = site.count(y),
        .sequence_count = site.sequence_count(y),
        .sequences = standing.sequences,
        .sequence_of = standing.sequence_of,
        .x = site.address(operation.inputs[0]),
        .kernel = site.address(operation.inputs[1]),
        .state = site.address(operation.inputs[2]),
        .y = site.address(operation.output),
        .channels = uint32_t(channels),
        .row_bytes = uint32_t(plane_row_bytes(gguf::DType::F32, history)),
        .x_stride = uint32_t(x.strides[0]),
        .y_stride = uint32_t(y.strides[0]),
        .at_channel = runs_of({y.axes.begin() + 1, y.axes.end()},
                              {y.extents.begin() + 1, y.extents.end()}, x, y)};
    const Extent all{.units = channels, .per_group = elements_at_once};
    auto dispatch = [&](uint32_t part, Extent along_x, Extent along_y) {
        return Dispatch{.shader = "short_conv",
                        .constants = {elements_at_once, uint32_t(history + 1), part},
                        .parameters = Parameters(parameters),
                        .x = along_x,
                        .y = along_y};
    };
    // Many tokens are convolved side by side, and the states change when they have been read.
    const Extent sequences{.units = std::min<int64_t>(y.extents[0], sequences_at_once)};
    if (y.extents[0] <= few_tokens) return {dispatch(2, all, sequences)};
    Extent each_token = all;
    each_token.live = live(y);
    return {dispatch(0, each_token, {}), dispatch(1, all, sequences)};
}

}  // namespace

extern const VulkanKernel short_conv{.name = "short_conv", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
