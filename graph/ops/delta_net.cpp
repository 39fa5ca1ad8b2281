// delta_net: a linear attention whose state is corrected, not only added to (gated delta rule, Yang
// et al. 2024; with a decay per key channel: Kimi delta attention, 2025). Per head, with the state
// S [dv d] of the sequence:
//     S   <- S * exp(decay)             of the head, or of each column
//     S   <- S + beta (v - S k) k^T
//     out  = S q
#include <algorithm>
#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/delta_net.h"

namespace tandem::graph {

namespace ops {
namespace {

void reference(const Call& call) {
    const View &q_view = call.inputs[delta_q], &v_view = call.inputs[delta_v];
    const View& decay_view = call.inputs[delta_decay];
    const View& state = call.inputs[delta_state];
    DeltaHeads heads(q_view, v_view);
    const int64_t d = q_view.extents.back(), dv = v_view.extents.back();
    const bool per_channel = decays_by_channel(decay_view, v_view);
    std::vector<float> q = load(q_view), k = load(call.inputs[delta_k]), v = load(v_view);
    std::vector<float> decay = load(decay_view), beta = load(call.inputs[delta_beta]);
    std::vector<float> result(v.size());
    std::vector<double> kept(size_t(d), 0.0);  // of each column of the state
    for (const Sequence& sequence : call.step.sequences)
        for (int64_t head = 0; head < heads.count; ++head) {
            std::vector<std::vector<double>> s;  // rows of the state
            for (int64_t e = 0; e < dv; ++e) {
                std::vector<float> row =
                    load_row(state, (sequence.slot * heads.count + head) * dv + e);
                if (sequence.cached == 0) std::fill(row.begin(), row.end(), 0.0f);
                s.emplace_back(row.begin(), row.end());
            }
            for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t) {
                const int64_t at = t * heads.count + head;
                const float* key = &k[size_t((t * heads.keys + heads.key_of(head)) * d)];
                const float* query = &q[size_t((t * heads.keys + heads.key_of(head)) * d)];
                for (int64_t i = 0; i < d; ++i)
                    kept[size_t(i)] =
                        std::exp(double(decay[size_t(per_channel ? at * d + i : at)]));
                for (int64_t e = 0; e < dv; ++e) {
                    std::vector<double>& row = s[size_t(e)];
                    double predicted = 0, out = 0;
                    for (int64_t i = 0; i < d; ++i) {
                        row[size_t(i)] *= kept[size_t(i)];
                        predicted += row[size_t(i)] * key[i];
                    }
                    const double delta =
                        beta[size_t(at)] * (double(v[size_t(at * dv + e)]) - predicted);
                    for (int64_t i = 0; i < d; ++i) {
                        row[size_t(i)] += delta * key[i];
                        out += row[size_t(i)] * query[i];
                    }
                    result[size_t(at * dv + e)] = float(out);
                }
            }
            for (int64_t e = 0; e < dv; ++e)
                store_row(state, (sequence.slot * heads.count + head) * dv + e,
                          std::vector<float>(s[size_t(e)].begin(), s[size_t(e)].end()));
        }
    store(call.output, result);
}

}  // namespace

DeltaHeads::DeltaHeads(const View& q, const View& v) : keys(q.extents[1]) {
    for (size_t i = 1; i + 1 < v.axes.size(); ++i) count *= v.extents[i];
    size_t shared = size_t(find(v.axes, q.axes[1]));
    for (size_t i = shared + 1; i + 1 < v.axes.size(); ++i) stride *= v.extents[i];
}

extern const Op delta_net{.name = "delta_net",
                          .rule =
                              [](const Node& node) {
                                  const Shape &q = node.shape(0), &state = node.shape(5);
                                  return Rule{.whole = {q.front(), q.back(), state.front()}};
                              },
                          .reference = reference};
}  // namespace ops

Tensor delta_net(Tensor q, Tensor k, Tensor v, Tensor decay, Tensor beta, Tensor state) {
    const Shape &keys = q.shape(), &values = v.shape();
    check(keys.size() == 3 && k.shape() == keys, "delta_net: q and k are [tokens k_heads d]");
    check(values.size() >= 3 && contains(values, keys[1]),
          "delta_net: v is [tokens heads... dv], k_heads among the heads");
    Shape heads(values.begin(), values.end() - 1);
    check(beta.shape() == heads &&
              (decay.shape() == heads || decay.shape() == heads + Shape{keys[2]}),
          "delta_net: beta is [tokens heads...], decay too or with the axis of the key channels");
    return q.graph->append(ops::delta_net, {q, k, v, decay, beta, state}, values);
}

}  // namespace tandem::graph
