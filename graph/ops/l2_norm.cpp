// l2_norm(x) = x / max(|x|, epsilon) over the last axis.
#include <algorithm>
#include <cmath>

#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op l2_norm{
    .name = "l2_norm",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}}; },
    .reference =
        [](const Call& call) {
            double epsilon = call.node.attributes.number("epsilon");
            std::vector<float> x = load(call.inputs[0]);
            size_t length = size_t(call.inputs[0].extents.back());
            for (size_t first = 0; first < x.size(); first += length) {
                double squares = 0;
                for (size_t i = 0; i < length; ++i) squares += double(x[first + i]) * x[first + i];
                double factor = 1 / std::max(std::sqrt(squares), epsilon);
                for (size_t i = 0; i < length; ++i) x[first + i] = float(x[first + i] * factor);
            }
            store(call.output, x);
        }};
}  // namespace ops

Tensor l2_norm(Tensor x, double epsilon) {
    return x.graph->append(ops::l2_norm, {x}, x.shape(), {{"epsilon", epsilon}});
}

}  // namespace tandem::graph
