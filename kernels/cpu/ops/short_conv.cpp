// short_conv on the CPU: channels are shared out. The history of a channel lies in a row of its
// state, its inputs a token apart.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "short_conv")) return 0;
    size_t columns = operation.output.view.axes.size() - 1;
    return as_rows(operation.inputs[0].view, columns) && as_rows(operation.output.view, columns)
               ? 1
               : 0;
}

struct ShortConv {
    Site site;
    Rows x, y;
    const float* kernel = nullptr;
    float* state = nullptr;
    int64_t history = 0;

    void run(const Worker& worker) const {
        const int64_t taps = history + 1;
        int64_t first, last;
        worker.share(x.length, first, last);
        for (const graph::Sequence& sequence : site.inputs().sequences)
            for (int64_t c = first; c < last; ++c) {
                float* past = state + (sequence.slot * x.length + c) * history;
                if (sequence.cached == 0) std::fill_n(past, history, 0.0f);
                // Input i of the sequence's new tokens; the past stands before them.
                auto input = [&](int64_t i) {
                    return i < 0 ? past[history + i] : x.row(sequence.first + i)[c];
                };
                for (int64_t i = 0; i < sequence.count; ++i) {
                    float sum = 0;
                    for (int64_t tap = 0; tap < taps; ++tap)
                        sum += kernel[c * taps + tap] * input(i + tap - history);
                    y.row(sequence.first + i)[c] = sum / (1 + std::exp(-sum));
                }
                for (int64_t i = 0; i < history; ++i) past[i] = input(sequence.count - history + i);
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
