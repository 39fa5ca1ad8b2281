// attend(q, k, v, cache): softmax(scale * q k^T) v over the tokens of the same sequence up to each
// token's own position (Vaswani et al. 2017, grouped heads of Ainslie et al. 2023). Coarse on
// purpose: cache write, mask and softmax belong together.
#include <algorithm>
#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
namespace {

// Rows of a cache [slots kv_heads cells | d].
int64_t cache_row(const View& cache, int64_t slot, int64_t head, int64_t cell) {
    return (slot * cache.extents[1] + head) * cache.extents[2] + cell;
}

void write(const View& cache, const View& values, const StepInputs& step) {
    std::vector<float> all = load(values);  // [tokens kv_heads d]
    int64_t heads = values.extents[1], d = values.extents[2];
    for (const Sequence& sequence : step.sequences)
        for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t)
            for (int64_t h = 0; h < heads; ++h)
                store_row(cache, cache_row(cache, sequence.slot, h, step.positions[size_t(t)]),
                          std::span(all).subspan(size_t((t * heads + h) * d), size_t(d)));
}

void reference(const Call& call) {
    const View &q_view = call.inputs[0], &k_cache = call.inputs[3], &v_cache = call.inputs[4];
    write(k_cache, call.inputs[1], call.step);
    write(v_cache, call.inputs[2], call.step);
    double scale = call.node.attributes.number("scale");
    int64_t kv_heads = q_view.extents[1], q_per_kv = q_view.extents[2], d = q_view.extents[3];
    int64_t dv = call.output.extents[3];
    std::vector<float> q = load(q_view), result(size_t(call.output.elements()));
    for (const Sequence& sequence : call.step.sequences) {
        int64_t cells = sequence.cached + sequence.count;
        for (int64_t g = 0; g < kv_heads; ++g) {
            std::vector<std::vector<float>> keys, values;
            for (int64_t cell = 0; cell < cells; ++cell) {
                keys.push_back(load_row(k_cache, cache_row(k_cache, sequence.slot, g, cell)));
                values.push_back(load_row(v_cache, cache_row(v_cache, sequence.slot, g, cell)));
            }
            for (int64_t i = 0; i < sequence.count * q_per_kv; ++i) {
                int64_t t = sequence.first + i / q_per_kv, head = g * q_per_kv + i % q_per_kv;
                int64_t row = t * kv_heads * q_per_kv + head;
                size_t seen = size_t(call.step.positions[size_t(t)]) + 1;
                std::vector<double> scores(seen);
                for (size_t j = 0; j < seen; ++j) {
                    double dot = 0;
                    for (int64_t e = 0; e < d; ++e)
                        dot += double(q[size_t(row * d + e)]) * keys[j][size_t(e)];
                    scores[j] = scale * dot;
                }
                double most = *std::max_element(scores.begin(), scores.end()), sum = 0;
                for (double& score : scores) sum += score = std::exp(score - most);
                for (int64_t e = 0; e < dv; ++e) {
                    double mix = 0;
                    for (size_t j = 0; j < seen; ++j) mix += scores[j] * values[j][size_t(e)];
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
                               const Shape &q = node.shape(0), &v = node.shape(2);
                               Rule rule{.whole = {q[0], q[3], v[2]}};
                               for (size_t cache : {3, 4}) {
                                   rule.whole.push_back(node.shape(cache)[0]);
                                   rule.whole.push_back(node.shape(cache)[2]);
                               }
                               return rule;
                           },
                       .reference = reference};
}  // namespace ops

Tensor attend(Tensor q, Tensor k, Tensor v, Cache cache, double scale) {
    check(q.shape().size() == 4 && k.shape().size() == 3 && v.shape().size() == 3,
          "attend: q is [tokens kv_heads q_per_kv d], k and v are [tokens kv_heads d]");
    check(q.shape()[1] == k.shape()[1] && q.shape()[1] == v.shape()[1] &&
              q.shape()[1] == cache.k.shape()[1] && q.shape()[1] == cache.v.shape()[1],
          "attend: q, k, v and the cache share one axis of kv heads");
    Shape shape = q.shape();
    shape[3] = v.shape()[2];
    return q.graph->append(ops::attend, {q, k, v, cache.k, cache.v}, shape, {{"scale", scale}});
}

}  // namespace tandem::graph
