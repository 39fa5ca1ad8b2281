// A model of one attention over its caches, for every kind of device.
#pragma once

#include <cmath>

#include "kernels/small_model.h"

namespace tandem::test {

// `how` has the sizes d, dv, kv_heads, q_per_kv, cells and slots, the types keys and values,
// window, soft_cap, sinks, and how far scores are spread; what is usual differs from test to test.
template <typename Case>
void build_attend(SmallModel& model, const Case& how) {
    using gguf::DType;
    using graph::Axis;
    using graph::Tensor;
    Axis kv = model.axis("kv_heads", how.kv_heads), q_per_kv = model.axis("q_per_kv", how.q_per_kv);
    Axis d = model.axis("d", how.d), dv = model.axis("dv", how.dv);
    Axis slots = model.axis("slots", how.slots), cells = model.axis("cells", how.cells);
    Tensor q = model.activation("q", {kv, q_per_kv, d});
    Tensor k = model.activation("k", {kv, d}), v = model.activation("v", {kv, dv});
    graph::Cache cache{model.graph.state("k_cache", how.keys, {slots, kv, cells}, {d}),
                       model.graph.state("v_cache", how.values, {slots, kv, cells}, {dv})};
    graph::Attention options{.window = how.window, .soft_cap = how.soft_cap};
    if (how.sinks) options.sinks = model.weight("sinks", DType::F32, {kv, q_per_kv}, {});
    model.finish(attend(q, k, v, cache, how.spread / std::sqrt(double(how.d)), options));
}

}  // namespace tandem::test
