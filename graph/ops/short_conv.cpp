// short_conv(x, kernel, state): silu of a causal convolution over the last few tokens, each channel
// by itself (Mamba, Gu and Dao 2023). The state holds the inputs of the tokens before, oldest
// first.
#include <algorithm>

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/activation.h"

namespace tandem::graph {

namespace ops {
namespace {

void reference(const Call& call) {
    const View& state = call.inputs[2];
    std::vector<float> x = load(call.inputs[0]), kernel = load(call.inputs[1]);
    const int64_t history = state.row_length(), taps = history + 1;
    const int64_t channels = int64_t(kernel.size()) / taps;
    std::vector<float> result(x.size());
    for (const Sequence& sequence : call.step.sequences)
        for (int64_t c = 0; c < channels; ++c) {
            std::vector<float> inputs = load_row(state, sequence.slot * channels + c);
            if (sequence.cached == 0) std::fill(inputs.begin(), inputs.end(), 0.0f);
            for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t)
                inputs.push_back(x[size_t(t * channels + c)]);
            for (int64_t i = 0; i < sequence.count; ++i) {
                double sum = 0;
                for (int64_t tap = 0; tap < taps; ++tap)
                    sum += double(kernel[size_t(c * taps + tap)]) * inputs[size_t(i + tap)];
                result[size_t((sequence.first + i) * channels + c)] = float(silu(sum));
            }
            store_row(state, sequence.slot * channels + c, std::span(inputs).last(size_t(history)));
        }
    store(call.output, result);
}

}  // namespace

extern const Op short_conv{.name = "short_conv",
                           .rule =
                               [](const Node& node) {
                                   const Shape& state = node.shape(2);
                                   return Rule{.whole = {node.shape(0)[0], node.shape(1).back(),
                                                         state.front(), state.back()}};
                               },
                           .reference = reference};
}  // namespace ops

Tensor short_conv(Tensor x, Tensor kernel, Tensor state) {
    Shape channels(x.shape().begin() + 1, x.shape().end());
    check(kernel.shape() == channels + Shape{kernel.shape().back()},
          "short_conv: the kernel is [channels... taps]");
    check(state->column_axes().size() == 1 &&
              state.shape().back()->extent + 1 == kernel.shape().back()->extent,
          "short_conv: the state is [slots channels... | taps - 1]");
    return x.graph->append(ops::short_conv, {x, kernel, state}, x.shape());
}

}  // namespace tandem::graph
