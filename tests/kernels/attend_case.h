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

// Attention where one element of a token's keys, or of its values, is not finite.
struct Spoiled {
    int64_t d, q_per_kv;
    gguf::DType dtype;  // of the cache
    float value;
    bool keys = false;

    static constexpr int32_t token = 60;
    static constexpr size_t element = 3;
    static constexpr float other = 0.5f;  // all other elements
    void build(SmallModel& model) const {
        using graph::Axis;
        using graph::Tensor;
        Axis kv = model.axis("kv_heads", 1), queries = model.axis("q_per_kv", q_per_kv);
        Axis axis = model.axis("d", d), slots = model.axis("slots", 2);
        Axis cells = model.axis("cells", 200);
        const Tensor spoiled = activation_of(
            model, "spoiled", {kv, axis},
            [this](int32_t id, size_t i) { return id == token && i == element ? value : other; });
        const Tensor random = model.activation("random", {kv, axis});
        graph::Cache cache{model.graph.state("k_cache", dtype, {slots, kv, cells}, {axis}),
                           model.graph.state("v_cache", dtype, {slots, kv, cells}, {axis})};
        model.finish(attend(model.activation("q", {kv, queries, axis}), keys ? spoiled : random,
                            keys ? random : spoiled, cache, 0.1));
    }
};

// So many tokens behind those that are cached, the n-th spoiled; and the rows that are wanted.
inline graph::StepInputs spoiled_step(int32_t cached, int count, int n, std::vector<int32_t> rows) {
    std::vector<int32_t> ids(size_t(count), 1);
    if (n >= 0) ids[size_t(n)] = Spoiled::token;
    graph::StepInputs step;
    step.append(0, cached, ids);
    step.rows = std::move(rows);
    return step;
}

}  // namespace tandem::test
