// attend(q, k, v, cache): softmax(scale * q k^T) v over the tokens of the same sequence up to each
// token's own position (Vaswani et al. 2017, grouped heads of Ainslie et al. 2023). Coarse on
// purpose: cache write, mask and softmax belong together.
#include <algorithm>
#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/attend.h"
#include "graph/ops/dot.h"

namespace tandem::graph {

namespace ops {
namespace {

// The cell of a position: a cache with fewer cells than the context is a ring.
int64_t cell_of(int64_t position, int64_t cells) { return position % cells; }

// Rows of a cache [slots kv_heads cells | d], or of one that all heads share, [slots cells | d].
int64_t cache_row(const View& cache, int64_t slot, int64_t head, int64_t position) {
    bool per_head = cache.axes.size() == 4;
    int64_t cells = cache.extents[per_head ? 2 : 1];
    if (per_head) slot = slot * cache.extents[1] + head;
    return slot * cells + cell_of(position, cells);
}

void write(const View& cache, const View& values, const StepInputs& step) {
    std::vector<float> all = load(values);  // [tokens kv_heads d] or [tokens d]
    int64_t heads = values.axes.size() == 3 ? values.extents[1] : 1, d = values.extents.back();
    for (const Sequence& sequence : step.sequences)
        for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t)
            for (int64_t h = 0; h < heads; ++h)
                store_row(cache, cache_row(cache, sequence.slot, h, step.positions[size_t(t)]),
                          std::span(all).subspan(size_t((t * heads + h) * d), size_t(d)));
}

// A query operand: the rows of its heads.
struct Queries {
    std::vector<float> all;
    size_t d = 0;

    explicit Queries(const View& view) {
        if (!view) return;
        all = load(view);
        d = size_t(view.extents.back());
    }
    std::span<const float> row(int64_t row) const {
        return std::span(all).subspan(size_t(row) * d, d);
    }
};

void reference(const Call& call) {
    const View &k_cache = call.inputs[keys_cache], &v_cache = call.inputs[values_cache],
               &k2_cache = call.inputs[second_cache];
    if (call.inputs[keys]) write(k_cache, call.inputs[keys], call.step);
    if (call.inputs[values]) write(v_cache, call.inputs[values], call.step);
    if (k2_cache) write(k2_cache, call.inputs[second_keys], call.step);
    const bool of_rows = call.output.axes[0]->name == "rows";
    const Standing at = of_rows ? call.step.of_rows() : call.step.of_tokens();
    const Attributes& attributes = call.node.attributes;
    double scale = attributes.number("scale"), cap = attributes.number("soft_cap");
    int64_t window = int64_t(attributes.number("window"));
    const View& q_view = call.inputs[queries];
    int64_t kv_heads = q_view.extents[1], q_per_kv = q_view.extents[2];
    int64_t dv = call.output.extents[3];
    Queries q(q_view), q2(call.inputs[second_queries]);
    std::vector<float> result(size_t(call.output.elements())), sink_of;
    if (call.inputs[sinks]) sink_of = load(call.inputs[sinks]);
    for (const Sequence& sequence : at.sequences) {
        int64_t end = at.positions[size_t(sequence.first + sequence.count - 1)] + 1;
        int64_t begin = window > 0 ? std::max<int64_t>(0, sequence.cached + 1 - window) : 0;
        for (int64_t g = 0; g < kv_heads; ++g) {
            std::vector<std::vector<float>> key, value, key2;  // of positions begin ... end
            for (int64_t p = begin; p < end; ++p) {
                key.push_back(load_row(k_cache, cache_row(k_cache, sequence.slot, g, p)));
                value.push_back(load_row(v_cache, cache_row(v_cache, sequence.slot, g, p)));
                if (k2_cache)
                    key2.push_back(load_row(k2_cache, cache_row(k2_cache, sequence.slot, g, p)));
            }
            for (int64_t i = 0; i < sequence.count * q_per_kv; ++i) {
                int64_t t = sequence.first + i / q_per_kv, head = g * q_per_kv + i % q_per_kv;
                int64_t row = t * kv_heads * q_per_kv + head;
                int64_t last = at.positions[size_t(t)];
                int64_t first = window > 0 ? std::max<int64_t>(0, last + 1 - window) : 0;
                std::vector<double> scores;
                for (size_t j = size_t(first - begin); j <= size_t(last - begin); ++j) {
                    double score = dot(q.row(row), key[j]);
                    if (k2_cache) score += dot(q2.row(row), key2[j]);
                    score *= scale;
                    scores.push_back(cap > 0 ? cap * std::tanh(score / cap) : score);
                }
                double most = *std::max_element(scores.begin(), scores.end()), sum = 0;
                if (!sink_of.empty()) {
                    most = std::max(most, double(sink_of[size_t(head)]));
                    sum = std::exp(sink_of[size_t(head)] - most);
                }
                for (double& score : scores) sum += score = std::exp(score - most);
                for (int64_t e = 0; e < dv; ++e) {
                    double mix = 0;
                    for (size_t j = 0; j < scores.size(); ++j)
                        mix += scores[j] * value[size_t(first - begin) + j][size_t(e)];
                    result[size_t(row * dv + e)] = float(mix / sum);
                }
            }
        }
    }
    store(call.output, result);
}

}  // namespace

extern const Op attend{.name = "attend",
                       .rule =
                           [](const Node& node) {
                               const Shape& q = node.shape(queries);
                               Rule rule{.whole = {q[0], q[3]},
                                         .takes_rows = !node.inputs[keys] && !node.inputs[values] &&
                                                       !node.inputs[second_keys]};
                               for (size_t i : {keys_cache, values_cache, second_cache})
                                   if (node.inputs[i])
                                       for (Axis axis : node.shape(i))
                                           if (axis != q[1]) rule.whole.push_back(axis);
                               return rule;
                           },
                       .reference = reference,
                       .holding =
                           [](const Node& node, size_t) {
                               return Holding{.by_position = true,
                                              .window = int64_t(node.attributes.number("window"))};
                           }};
}  // namespace ops

Tensor attend(Tensor q, Tensor k, Tensor v, Cache cache, double scale, const Attention& how) {
    using namespace ops;
    check(q.shape().size() == 4, "attend: q is [tokens kv_heads q_per_kv d]");
    for (const Tensor& operand : {k, v})
        check(!operand || (operand.shape().size() == 3 && operand.shape()[1] == q.shape()[1]),
              "attend: k and v are [tokens kv_heads d] with the kv heads of q");
    check(q.shape()[1] == cache.k.shape()[1] && q.shape()[1] == cache.v.shape()[1],
          "attend: q and the caches share one axis of kv heads");
    check(bool(how.q) == bool(how.k) && bool(how.q) == bool(how.cache),
          "attend: a second pair has queries, keys and a cache");
    Shape shape = q.shape();
    shape[3] = cache.v.shape()[3];
    std::vector<Tensor> inputs(operands);
    inputs[queries] = q;
    inputs[keys] = k;
    inputs[values] = v;
    inputs[keys_cache] = cache.k;
    inputs[values_cache] = cache.v;
    inputs[sinks] = how.sinks;
    inputs[second_queries] = how.q;
    inputs[second_keys] = how.k;
    inputs[second_cache] = how.cache;
    return q.graph->append(
        ops::attend, inputs, shape,
        {{"scale", scale}, {"window", double(how.window)}, {"soft_cap", how.soft_cap}});
}

}  // namespace tandem::graph
