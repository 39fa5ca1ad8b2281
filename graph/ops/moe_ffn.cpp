// moe_ffn: y = sum over the chosen experts e of weight_e * down_e (activation(gate_e x) * up_e x).
// Coarse on purpose: whether the experts are divided by `ffn` or by `experts`, a device has an
// addend of y. One that holds a range of the experts skips the others.
#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/activation.h"

namespace tandem::graph {

namespace ops {
namespace {

double dot(const std::vector<float>& row, std::span<const float> x) {
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) sum += double(row[i]) * x[i];
    return sum;
}

void reference(const Call& call) {
    const View &gate = call.inputs[3], &up = call.inputs[4], &down = call.inputs[5];
    auto act = activation(call.node.attributes.word("activation"));
    std::vector<float> x = load(call.inputs[0]), weights = load(call.inputs[2]);
    std::vector<int32_t> ids = load_ids(call.inputs[1]);
    int64_t tokens = call.inputs[0].extents[0], embd = call.inputs[0].extents[1];
    int64_t used = call.inputs[1].extents[1], ffn = gate.extents[1];
    std::vector<double> result(size_t(tokens * embd), 0.0);
    for (int64_t expert = 0; expert < gate.extents[0]; ++expert)
        for (int64_t i = 0; i < tokens * used; ++i) {
            if (ids[size_t(i)] - gate.begins[0] != expert) continue;
            auto token = std::span(x).subspan(size_t(i / used * embd), size_t(embd));
            std::vector<float> hidden(static_cast<size_t>(ffn));
            for (int64_t f = 0; f < ffn; ++f)
                hidden[size_t(f)] = float(act(dot(load_row(gate, expert * ffn + f), token)) *
                                          dot(load_row(up, expert * ffn + f), token));
            for (int64_t e = 0; e < embd; ++e)
                result[size_t(i / used * embd + e)] +=
                    weights[size_t(i)] * dot(load_row(down, expert * embd + e), hidden);
        }
    store(call.output, std::vector<float>(result.begin(), result.end()));
}

}  // namespace

extern const Op moe_ffn{
    .name = "moe_ffn",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}, .linear = {2}}; },
    .reference = reference,
    .use = [](size_t operand) { return operand >= 3 ? Use::Experts : Use::Vector; }};
}  // namespace ops

Tensor moe_ffn(Tensor x, Tensor ids, Tensor weights, Tensor gate, Tensor up, Tensor down,
               std::string_view activation) {
    check(x.shape().size() == 2 && ids.shape() == weights.shape(),
          "moe_ffn: x is [tokens embd], ids and weights are [tokens used]");
    ops::activation(activation);
    return x.graph->append(ops::moe_ffn, {x, ids, weights, gate, up, down}, x.shape(),
                           {{"activation", activation}});
}

}  // namespace tandem::graph
