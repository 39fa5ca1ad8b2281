// moe_ffn: y = sum over the chosen experts e of weight_e * down_e unit(gate_e x, up_e x), each
// product of gate, up and down multiplied by the expert's scale where there are scales, and gate's
// and up's biases added. Coarse on purpose: whether the experts are divided by `ffn` or by
// `experts`, a device has an addend of y. One that holds a range of the experts skips the others.
#include "graph/ops/moe_ffn.h"

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/activation.h"
#include "graph/ops/dot.h"

namespace tandem::graph {

namespace ops {
namespace {

// An operand that may be left out, which stands for `value` everywhere.
std::vector<float> load_or(const View& view, float value, int64_t count) {
    return view ? load(view) : std::vector<float>(size_t(count), value);
}

void reference(const Call& call) {
    const View &gate = call.inputs[moe_gate], &up = call.inputs[moe_up],
               &down = call.inputs[moe_down];
    auto unit = gated_unit(call.node.attributes.word("activation"));
    std::vector<float> x = load(call.inputs[moe_x]), weights = load(call.inputs[moe_weights]);
    std::vector<int32_t> ids = load_ids(call.inputs[moe_ids]);
    int64_t choices = gate.axes[0]->extent, experts = gate.extents[0], ffn = gate.extents[1];
    auto scales = [&](MoeOperand i) { return load_or(call.inputs[i], 1, choices); };
    auto biases = [&](MoeOperand i) { return load_or(call.inputs[i], 0, experts * ffn); };
    std::vector<float> gate_scale = scales(moe_gate_scale), up_scale = scales(moe_up_scale),
                       down_scale = scales(moe_down_scale), gate_bias = biases(moe_gate_bias),
                       up_bias = biases(moe_up_bias);
    int64_t tokens = call.inputs[moe_x].extents[0], embd = call.inputs[moe_x].extents[1];
    int64_t used = call.inputs[moe_ids].extents[1];
    std::vector<double> result(size_t(tokens * embd), 0.0);
    // Each row of an expert is decoded once, for all who chose it.
    for (int64_t expert = 0; expert < experts; ++expert) {
        std::vector<int64_t> chosen;
        for (int64_t i = 0; i < tokens * used; ++i)
            if (ids[size_t(i)] - gate.begins[0] == expert) chosen.push_back(i);
        if (chosen.empty()) continue;
        const auto number = size_t(ids[size_t(chosen[0])]);
        std::vector<std::vector<float>> hidden(chosen.size(), std::vector<float>(size_t(ffn)));
        for (int64_t f = 0; f < ffn; ++f) {
            const int64_t row = expert * ffn + f;
            const std::vector<float> of_gate = load_row(gate, row), of_up = load_row(up, row);
            for (size_t c = 0; c < chosen.size(); ++c) {
                auto token = std::span(x).subspan(size_t(chosen[c] / used * embd), size_t(embd));
                hidden[c][size_t(f)] =
                    float(unit(gate_scale[number] * dot(of_gate, token) + gate_bias[size_t(row)],
                               up_scale[number] * dot(of_up, token) + up_bias[size_t(row)]));
            }
        }
        for (int64_t e = 0; e < embd; ++e) {
            const std::vector<float> of_down = load_row(down, expert * embd + e);
            for (size_t c = 0; c < chosen.size(); ++c)
                result[size_t(chosen[c] / used * embd + e)] += double(weights[size_t(chosen[c])]) *
                                                               down_scale[number] *
                                                               dot(of_down, hidden[c]);
        }
    }
    store(call.output, std::vector<float>(result.begin(), result.end()));
}

}  // namespace

extern const Op moe_ffn{
    .name = "moe_ffn",
    .rule =
        [](const Node& node) {
            Rule rule{.whole = {node.shape(moe_x).back()}, .linear = {moe_weights}};
            for (size_t i : {moe_gate_scale, moe_up_scale, moe_down_scale})
                if (node.inputs[i]) rule.whole.push_back(node.shape(i)[0]);
            return rule;
        },
    .reference = reference,
    .use =
        [](size_t operand) {
            bool matrix = operand == moe_gate || operand == moe_up || operand == moe_down;
            return matrix ? Use::Experts : Use::Vector;
        }};
}  // namespace ops

Tensor moe_ffn(Tensor x, Tensor ids, Tensor weights, const Experts& experts,
               std::string_view activation) {
    check(x.shape().size() == 2 && ids.shape() == weights.shape(),
          "moe_ffn: x is [tokens embd], ids and weights are [tokens used]");
    ops::gated_unit(activation);
    for (const Tensor& scale : {experts.gate_scale, experts.up_scale, experts.down_scale})
        check(!scale || (scale.shape().size() == 1 &&
                         scale.shape()[0]->extent == experts.gate.shape()[0]->extent),
              "moe_ffn: scales are [choices], one per expert");
    for (const Tensor& bias : {experts.gate_bias, experts.up_bias})
        check(!bias || bias.shape() == experts.gate->row_axes(),
              "moe_ffn: biases are [experts ffn]");
    return x.graph->append(
        ops::moe_ffn,
        {x, ids, weights, experts.gate, experts.up, experts.down, experts.gate_scale,
         experts.up_scale, experts.down_scale, experts.gate_bias, experts.up_bias},
        x.shape(), {{"activation", activation}});
}

}  // namespace tandem::graph
