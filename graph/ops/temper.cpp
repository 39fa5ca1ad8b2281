// temper(x, positions) = x * (1 + beta ln(1 + floor(position / length))): queries grow with the
// distance that they look back over (Llama 4, Mistral 3).
#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op temper{.name = "temper",
                       .rule = [](const Node&) { return Rule{.linear = {0}}; },
                       .reference =
                           [](const Call& call) {
                               double beta = call.node.attributes.number("beta");
                               double length = call.node.attributes.number("length");
                               std::vector<float> x = load(call.inputs[0]);
                               std::vector<int32_t> positions = load_ids(call.inputs[1]);
                               size_t per_token =
                                   positions.empty() ? 0 : x.size() / positions.size();
                               for (size_t i = 0; i < x.size(); ++i) {
                                   double spans = std::floor(positions[i / per_token] / length);
                                   x[i] = float(x[i] * (1 + beta * std::log1p(spans)));
                               }
                               store(call.output, x);
                           }};
}  // namespace ops

Tensor temper(Tensor x, Tensor positions, double beta, double length) {
    check(x.shape().front() == positions.shape().front(), "temper: one position per token");
    return x.graph->append(ops::temper, {x, positions}, x.shape(),
                           {{"beta", beta}, {"length", length}});
}

}  // namespace tandem::graph
