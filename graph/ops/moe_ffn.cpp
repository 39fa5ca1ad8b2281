// moe_ffn: y = sum over the chosen experts e of weight_e * down_e (activation(gate_e x) * up_e x),
// each product of gate, up and down multiplied by the expert's scale where there are scales.
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

// Scales are operands 6, 7 and 8, one for each matrix; 1 for all experts where one is left out.
std::vector<float> scales_of(const Call& call, size_t matrix) {
    size_t operand = matrix + 3;
    if (operand < call.inputs.size() && call.inputs[operand]) return load(call.inputs[operand]);
    return std::vector<float>(size_t(call.inputs[3].axes[0]->extent), 1.0f);
}

void reference(const Call& call) {
    const View &gate = call.inputs[3], &up = call.inputs[4], &down = call.inputs[5];
    auto act = activation(call.node.attributes.word("activation"));
    std::vector<float> x = load(call.inputs[0]), weights = load(call.inputs[2]);
    std::vector<int32_t> ids = load_ids(call.inputs[1]);
    std::vector<float> gate_scale = scales_of(call, 3), up_scale = scales_of(call, 4),
                       down_scale = scales_of(call, 5);
    int64_t tokens = call.inputs[0].extents[0], embd = call.inputs[0].extents[1];
    int64_t used = call.inputs[1].extents[1], ffn = gate.extents[1];
    std::vector<double> result(size_t(tokens * embd), 0.0);
    for (int64_t expert = 0; expert < gate.extents[0]; ++expert)
        for (int64_t i = 0; i < tokens * used; ++i) {
            if (ids[size_t(i)] - gate.begins[0] != expert) continue;
            auto number = size_t(ids[size_t(i)]);
            auto token = std::span(x).subspan(size_t(i / used * embd), size_t(embd));
            std::vector<float> hidden(static_cast<size_t>(ffn));
            for (int64_t f = 0; f < ffn; ++f)
                hidden[size_t(f)] =
                    float(act(gate_scale[number] * dot(load_row(gate, expert * ffn + f), token)) *
                          (up_scale[number] * dot(load_row(up, expert * ffn + f), token)));
            for (int64_t e = 0; e < embd; ++e)
                result[size_t(i / used * embd + e)] +=
                    double(weights[size_t(i)]) * down_scale[number] *
                    dot(load_row(down, expert * embd + e), hidden);
        }
    store(call.output, std::vector<float>(result.begin(), result.end()));
}

}  // namespace

extern const Op moe_ffn{
    .name = "moe_ffn",
    .rule =
        [](const Node& node) {
            Rule rule{.whole = {node.shape(0).back()}, .linear = {2}};
            for (size_t i = 6; i < node.inputs.size(); ++i)
                if (node.inputs[i]) rule.whole.push_back(node.shape(i)[0]);
            return rule;
        },
    .reference = reference,
    .use = [](size_t operand) { return operand >= 3 && operand < 6 ? Use::Experts : Use::Vector; }};
}  // namespace ops

Tensor moe_ffn(Tensor x, Tensor ids, Tensor weights, Tensor gate, Tensor up, Tensor down,
               std::string_view activation, ExpertScales scales) {
    check(x.shape().size() == 2 && ids.shape() == weights.shape(),
          "moe_ffn: x is [tokens embd], ids and weights are [tokens used]");
    ops::activation(activation);
    std::vector<Tensor> operands{x, ids, weights, gate, up, down};
    for (Tensor scale : {scales.gate, scales.up, scales.down})
        check(!scale || (scale.shape().size() == 1 &&
                         scale.shape()[0]->extent == gate.shape()[0]->extent),
              "moe_ffn: scales are [choices], one per expert");
    if (scales.gate || scales.up || scales.down)
        operands.insert(operands.end(), {scales.gate, scales.up, scales.down});
    return x.graph->append(ops::moe_ffn, std::move(operands), x.shape(),
                           {{"activation", activation}});
}

}  // namespace tandem::graph
