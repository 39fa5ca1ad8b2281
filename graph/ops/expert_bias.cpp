// expert_bias: y = sum over the chosen experts e of weight_e * bias_e. An op of its own, so that it
// is added once, behind the sum over the devices that have the experts.
#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op expert_bias{
    .name = "expert_bias",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(2)[0]}, .linear = {1}}; },
    .reference =
        [](const Call& call) {
            std::vector<int32_t> ids = load_ids(call.inputs[0]);
            std::vector<float> weights = load(call.inputs[1]), bias = load(call.inputs[2]);
            size_t tokens = size_t(call.inputs[0].extents[0]);
            size_t used = size_t(call.inputs[0].extents[1]);
            size_t embd = size_t(call.inputs[2].extents[1]);
            std::vector<double> sums(tokens * embd, 0.0);
            for (size_t i = 0; i < ids.size(); ++i)
                for (size_t e = 0; e < embd; ++e)
                    sums[i / used * embd + e] +=
                        double(weights[i]) * bias[size_t(ids[i]) * embd + e];
            store(call.output, std::vector<float>(sums.begin(), sums.end()));
        }};
}  // namespace ops

Tensor expert_bias(Tensor ids, Tensor weights, Tensor bias) {
    check(ids.shape() == weights.shape() && bias.shape().size() == 2,
          "expert_bias: ids and weights are [tokens used], the bias is [choices embd]");
    return ids.graph->append(ops::expert_bias, {ids, weights, bias},
                             {ids.shape()[0], bias.shape()[1]});
}

}  // namespace tandem::graph
