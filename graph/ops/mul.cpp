// mul(a, b) = a * b. b may lack axes of a and is repeated along them.
#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op mul{
    .name = "mul",
    .rule = [](const Node&) { return Rule{.linear = {0}}; },
    .reference = [](const Call& call) { combine(call, [](double a, double b) { return a * b; }); }};
}  // namespace ops

Tensor mul(Tensor a, Tensor b) {
    ops::require_repeatable(a, b, "mul");
    return a.graph->append(ops::mul, {a, b}, a.shape());
}

}  // namespace tandem::graph
