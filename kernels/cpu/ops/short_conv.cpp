// short_conv on the CPU: channels are shared out. The history of a channel lies in a row of its
// state, its new inputs a row of channels apart.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "short_conv")) return 0;
    size_t columns = operation.output.view.axes.size() - 1;
    const graph::View &x = operation.inputs[0].view, &state = operation.inputs[2].view;
    return state.row_length() > 0 && state.row_length() < convolution_taps && as_rows(x, columns) &&
                   as_rows(operation.output.view, columns)
               ? 1
               : 0;
}

// Whole vectors of any instruction set: where a share ends must not change what channels get.
constexpr int64_t channels_at_a_time = 64;

struct ShortConv {
    Site site;
    Rows x, y;
    const float* kernel = nullptr;
    float* state = nullptr;
    int64_t history = 0;

    void run(const Worker& worker) const {
        const Range own = worker.share((x.length + channels_at_a_time - 1) / channels_at_a_time);
        const int64_t first = own.first * channels_at_a_time;
        const int64_t last = std::min(own.last * channels_at_a_time, x.length);
        for (const graph::Sequence& sequence : site.inputs().sequences)
            for (int64_t c = first; c < last; c += convolution_channels) {
                Convolution part{.channels = std::min<int64_t>(convolution_channels, last - c),
                                 .taps = history + 1,
                                 .tokens = sequence.count,
                                 .kernel = kernel + c * (history + 1),
                                 .state = state + (sequence.slot * x.length + c) * history,
                                 .x = x.row(sequence.first) + c,
                                 .y = y.row(sequence.first) + c,
                                 .x_stride = x.stride,
                                 .y_stride = y.stride};
                if (sequence.cached == 0) std::fill_n(part.state, part.channels * history, 0.0f);
                site.isa.short_conv(part);
            }
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[0]), state = site.view(operation.inputs[2]);
    size_t columns = x.axes.size() - 1;
    ShortConv conv{.site = site,
                   .x = *as_rows(x, columns),
                   .y = *as_rows(site.view(operation.output), columns),
                   .kernel = reinterpret_cast<const float*>(site.view(operation.inputs[1]).data),
                   .state = reinterpret_cast<float*>(state.data),
                   .history = state.row_length()};
    return [conv](const Worker& worker) { conv.run(worker); };
}

}  // namespace

extern const CpuKernel short_conv{.name = "short_conv", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
