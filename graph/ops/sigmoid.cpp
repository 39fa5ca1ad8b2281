// sigmoid(x) = 1 / (1 + e^-x)
#include <cmath>

#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op sigmoid{
    .name = "sigmoid",
    .rule = [](const Node&) { return Rule{}; },
    .reference =
        [](const Call& call) { transform(call, [](double x) { return 1 / (1 + std::exp(-x)); }); }};
}  // namespace ops

Tensor sigmoid(Tensor x) { return x.graph->append(ops::sigmoid, {x}, x.shape()); }

}  // namespace tandem::graph
