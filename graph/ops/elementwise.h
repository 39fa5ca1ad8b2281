// What the element-by-element ops share.
#pragma once

#include "gguf/error.h"
#include "graph/graph.h"

namespace tandem::graph::ops {

inline void require_repeatable(Tensor a, Tensor b, std::string_view op) {
    for (Axis axis : b.shape())
        check(contains(a.shape(), axis), std::string(op) + ": the second operand has axis " +
                                             axis->name + " that the first lacks");
}

// output = f(x)
template <typename F>
void transform(const Call& call, F f) {
    std::vector<float> x = load(call.inputs[0]);
    for (float& value : x) value = float(f(value));
    store(call.output, x);
}

// output = f(a, b), b repeated along the axes that it lacks
template <typename F>
void combine(const Call& call, F f) {
    const View& view_a = call.inputs[0];
    const View& view_b = call.inputs[1];
    std::vector<float> a = load(view_a), b = load(view_b);
    std::vector<int64_t> step(view_a.axes.size(), 0);  // of b, for each axis of a
    int64_t stride = 1;
    for (size_t i = view_b.axes.size(); i-- > 0; stride *= view_b.extents[i])
        step[size_t(find(view_a.axes, view_b.axes[i]))] = stride;
    std::vector<int64_t> index(view_a.axes.size(), 0);
    for (float& value : a) {
        int64_t at = 0;
        for (size_t i = 0; i < index.size(); ++i) at += index[i] * step[i];
        value = float(f(value, b[size_t(at)]));
        for (size_t i = index.size(); i-- > 0;) {
            if (++index[i] < view_a.extents[i]) break;
            index[i] = 0;
        }
    }
    store(call.output, a);
}

}  // namespace tandem::graph::ops
