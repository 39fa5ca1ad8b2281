// pick(x, axis, index): the elements at one index of an axis.
#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op pick{.name = "pick",
                     .rule =
                         [](const Node& node) {
                             Rule rule{.linear = {0}};
                             for (Axis axis : node.shape(0))
                                 if (!contains(node.output.shape(), axis))
                                     rule.whole.push_back(axis);
                             return rule;
                         },
                     .reference =
                         [](const Call& call) {
                             const View& x = call.inputs[0];
                             std::vector<float> all = load(x), result;
                             size_t at = 0;
                             while (contains(call.output.axes, x.axes[at])) ++at;
                             int64_t inner = 1, extent = x.extents[at];
                             for (size_t i = at + 1; i < x.axes.size(); ++i) inner *= x.extents[i];
                             auto index = int64_t(call.node.attributes.number("index"));
                             for (int64_t first = index * inner; first < int64_t(all.size());
                                  first += extent * inner)
                                 result.insert(result.end(), all.begin() + first,
                                               all.begin() + first + inner);
                             store(call.output, result);
                         }};
}  // namespace ops

Tensor pick(Tensor x, Axis axis, int64_t index) {
    check(contains(x.shape(), axis) && index < axis->extent, "pick: an element of the axis");
    Shape shape;
    for (Axis other : x.shape())
        if (other != axis) shape.push_back(other);
    return x.graph->append(ops::pick, {x}, shape, {{"index", double(index)}});
}

}  // namespace tandem::graph
