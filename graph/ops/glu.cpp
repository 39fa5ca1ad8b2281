// glu(gate, up) = activation(gate) * up (Shazeer 2020).
#include "graph/ops.h"
#include "graph/ops/activation.h"
#include "graph/ops/elementwise.h"

namespace tandem::graph {

namespace ops {
extern const Op glu{.name = "glu",
                    .rule = [](const Node&) { return Rule{.linear = {1}}; },
                    .reference =
                        [](const Call& call) {
                            auto act = activation(call.node.attributes.word("activation"));
                            combine(call, [act](double gate, double up) { return act(gate) * up; });
                        }};
}  // namespace ops

Tensor glu(Tensor gate, Tensor up, std::string_view activation) {
    check(gate.shape() == up.shape(), "glu: gate and up have one shape");
    ops::activation(activation);
    return gate.graph->append(ops::glu, {gate, up}, gate.shape(), {{"activation", activation}});
}

}  // namespace tandem::graph
