// soft_cap(x) = cap * tanh(x / cap), which keeps logits within +-cap (Gemma 2).
#include <cmath>

#include "graph/ops.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op soft_cap{.name = "soft_cap",
                         .rule = [](const Node&) { return Rule{}; },
                         .reference =
                             [](const Call& call) {
                                 double cap = call.node.attributes.number("cap");
                                 transform(call,
                                           [cap](double x) { return cap * std::tanh(x / cap); });
                             }};
}  // namespace ops

Tensor soft_cap(Tensor x, double cap) {
    return x.graph->append(ops::soft_cap, {x}, x.shape(), {{"cap", cap}});
}

}  // namespace tandem::graph
