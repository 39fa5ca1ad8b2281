// select_rows(x, rows): the tokens whose logits are wanted. The head begins with it.
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op select_rows{
    .name = "select_rows",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).front()}, .linear = {0}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> x = load(call.inputs[0]), result;
            int64_t tokens = call.inputs[0].extents[0];
            int64_t length = tokens == 0 ? 0 : int64_t(x.size()) / tokens;
            for (int32_t row : load_ids(call.inputs[1]))
                result.insert(result.end(), x.begin() + row * length,
                              x.begin() + (row + 1) * length);
            store(call.output, result);
        }};
}  // namespace ops

Tensor select_rows(Tensor x, Tensor rows) {
    Shape shape = x.shape();
    shape.front() = rows.shape().front();
    return x.graph->append(ops::select_rows, {x, rows}, shape);
}

}  // namespace tandem::graph
