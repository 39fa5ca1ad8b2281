// softmax(x) = e^x / sum(e^x) over the last axis.
#include <algorithm>
#include <cmath>

#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op softmax{
    .name = "softmax",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> x = load(call.inputs[0]);
            size_t length = size_t(call.inputs[0].extents.back());
            for (size_t first = 0; first < x.size(); first += length) {
                std::span<float> row(&x[first], length);
                double most = *std::max_element(row.begin(), row.end()), sum = 0;
                for (float value : row) sum += std::exp(value - most);
                for (float& value : row) value = float(std::exp(value - most) / sum);
            }
            store(call.output, x);
        }};
}  // namespace ops

Tensor softmax(Tensor x) { return x.graph->append(ops::softmax, {x}, x.shape()); }

}  // namespace tandem::graph
