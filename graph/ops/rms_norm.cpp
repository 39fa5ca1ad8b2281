// rms_norm(x, w) = x / sqrt(mean(x^2) + epsilon) * w over the axes of w (Zhang and Sennrich 2019);
// without w over the last axis.
#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op rms_norm{
    .name = "rms_norm",
    .rule =
        [](const Node& node) {
            return Rule{.whole = node.inputs[1] ? node.shape(1) : Shape{node.shape(0).back()}};
        },
    .reference =
        [](const Call& call) {
            double epsilon = call.node.attributes.number("epsilon");
            std::vector<float> x = load(call.inputs[0]);
            std::vector<float> weight(size_t(call.inputs[0].extents.back()), 1.0f);
            if (call.inputs[1]) weight = load(call.inputs[1]);
            size_t length = weight.size();
            for (size_t first = 0; first < x.size(); first += length) {
                double squares = 0;
                for (size_t i = 0; i < length; ++i) squares += double(x[first + i]) * x[first + i];
                double factor = 1 / std::sqrt(squares / double(length) + epsilon);
                for (size_t i = 0; i < length; ++i)
                    x[first + i] = float(x[first + i] * factor * weight[i]);
            }
            store(call.output, x);
        }};
}  // namespace ops

Tensor rms_norm(Tensor x, Tensor weight, double epsilon) {
    const Shape &axes = x.shape(), &normed = weight.shape();
    check(axes.size() >= normed.size() &&
              Shape(axes.end() - int64_t(normed.size()), axes.end()) == normed,
          "rms_norm: the operand ends with the axes of the weight");
    return x.graph->append(ops::rms_norm, {x, weight}, axes, {{"epsilon", epsilon}});
}

Tensor rms_norm(Tensor x, double epsilon) {
    return x.graph->append(ops::rms_norm, {x, {}}, x.shape(), {{"epsilon", epsilon}});
}

}  // namespace tandem::graph
