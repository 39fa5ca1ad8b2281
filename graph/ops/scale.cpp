// scale(x) = factor * x
#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op scale{.name = "scale",
                      .rule = [](const Node&) { return Rule{.linear = {0}}; },
                      .reference =
                          [](const Call& call) {
                              double factor = call.node.attributes.number("factor");
                              transform(call, [factor](double x) { return factor * x; });
                          }};
}  // namespace ops

Tensor scale(Tensor x, double factor) {
    return x.graph->append(ops::scale, {x}, x.shape(), {{"factor", factor}});
}

}  // namespace tandem::graph
