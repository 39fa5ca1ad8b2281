// add(a, b) = a + b. b may lack axes of a and is repeated along them (a bias).
#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
// Linear in both together: addends of a and b give addends of the sum, but an addend of a and the
// whole of b would count b once per device.
extern const Op add{
    .name = "add",
    .rule =
        [](const Node&) {
            return Rule{.linear = {0, 1}};
        },
    .reference = [](const Call& call) { combine(call, [](double a, double b) { return a + b; }); }};
}  // namespace ops

Tensor add(Tensor a, Tensor b) {
    ops::require_repeatable(a, b, "add");
    return a.graph->append(ops::add, {a, b}, a.shape());
}

}  // namespace tandem::graph
