// softplus(x) = ln(1 + e^x)
#include <cmath>

#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op softplus{
    .name = "softplus",
    .rule = [](const Node&) { return Rule{}; },
    .reference =
        [](const Call& call) {
            transform(call, [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); });
        }};
}  // namespace ops

Tensor softplus(Tensor x) { return x.graph->append(ops::softplus, {x}, x.shape()); }

}  // namespace tandem::graph
