// normalize(x) = x / max(sum(x), 2^-14) over the last axis: the weights of the chosen experts.
#include <algorithm>

#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op normalize{
    .name = "normalize",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> x = load(call.inputs[0]);
            size_t length = size_t(call.inputs[0].extents.back());
            for (size_t first = 0; first < x.size(); first += length) {
                std::span<float> row(&x[first], length);
                double sum = 0;
                for (float value : row) sum += value;
                sum = std::max(sum, 0x1p-14);  // far below any sum that means something
                for (float& value : row) value = float(value / sum);
            }
            store(call.output, x);
        }};
}  // namespace ops

Tensor normalize(Tensor x) { return x.graph->append(ops::normalize, {x}, x.shape()); }

}  // namespace tandem::graph
