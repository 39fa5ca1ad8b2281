// take(scores, ids): the elements of the last axis that the ids name.
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op take{
    .name = "take",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}, .linear = {0}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> scores = load(call.inputs[0]);
            std::vector<int32_t> ids = load_ids(call.inputs[1]);
            size_t length = size_t(call.inputs[0].extents.back());
            size_t used = size_t(call.inputs[1].extents.back());
            std::vector<float> result(ids.size());
            for (size_t i = 0; i < ids.size(); ++i)
                result[i] = scores[i / used * length + size_t(ids[i])];
            store(call.output, result);
        }};
}  // namespace ops

Tensor take(Tensor scores, Tensor ids) {
    return scores.graph->append(ops::take, {scores, ids}, ids.shape());
}

}  // namespace tandem::graph
