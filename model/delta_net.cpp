#include "model/delta_net.h"

#include <cmath>

#include "gguf/error.h"
#include "model/blocks.h"

namespace tandem::model {

Tensor convolved(Layer& layer, Tensor x, Tensor kernel, std::string_view name) {
    Builder& model = layer.model;
    if (kernel.shape().back()->extent < 2)
        throw Error(model.file.path() + ": key " + model.keys.architecture() +
                    ".ssm.conv_kernel is 1, expected at least 2");
    Shape channels(x.shape().begin() + 1, x.shape().end());
    Axis history = model.graph.axis("history", kernel.shape().back()->extent - 1);
    Tensor state = model.graph.state(layer.path(name), gguf::DType::F32,
                                     Shape{model.slots()} + channels, {history});
    return short_conv(x, kernel, state);
}

Tensor delta_state(Layer& layer, const Shape& heads, Axis dv, Axis d) {
    Builder& model = layer.model;
    return model.graph.state(layer.path("delta_state"), gguf::DType::F32,
                             Shape{model.slots()} + heads + Shape{dv}, {d});
}

namespace {

// True for a block that has a delta net in place of attention.
bool is_recurrent(const Layer& layer) {
    const Hyperparameters& keys = layer.model.keys;
    int64_t interval = keys.extent("full_attention_interval", 4);
    return keys.of_layer("attention.recurrent_layers", layer.index,
                         (layer.index + 1) % interval != 0) != 0;
}

struct DeltaAxes {
    Axis k_heads, v_per_k, d, dv, taps;
    HeadOrder order;
    Shape heads;  // of values, in that order

    Shape values() const { return heads + Shape{dv}; }
};

DeltaAxes delta_axes(Layer& layer, HeadOrder order) {
    const Builder& model = layer.model;
    const Hyperparameters& keys = model.keys;
    int64_t k_heads = keys.extent("ssm.group_count"), v_heads = keys.extent("ssm.time_step_rank");
    int64_t size = keys.extent("ssm.state_size"), taps = keys.extent("ssm.conv_kernel");
    if (v_heads % k_heads != 0)
        throw Error(model.file.path() + ": " + std::to_string(v_heads) + " value heads and " +
                    std::to_string(k_heads) + " key heads in a delta net, expected a multiple");
    if (keys.extent("ssm.inner_size", v_heads * size) != v_heads * size)
        throw Error(model.file.path() + ": key " + keys.architecture() + ".ssm.inner_size is " +
                    std::to_string(keys.integer("ssm.inner_size")) + ", expected " +
                    std::to_string(v_heads * size) + " (value heads x their size)");
    DeltaAxes axes{.k_heads = layer.axis("k_heads", k_heads),
                   .v_per_k = layer.axis("v_per_k", v_heads / k_heads),
                   .d = layer.axis("d", size),
                   .dv = layer.axis("dv", size),
                   .taps = layer.axis("taps", taps),
                   .order = order};
    axes.heads = order == HeadOrder::Grouped ? Shape{axes.k_heads, axes.v_per_k}
                                             : Shape{axes.v_per_k, axes.k_heads};
    return axes;
}

struct Inputs {
    Tensor q, k, v, z;
};

Inputs inputs(Layer& layer, Tensor h, const DeltaAxes& axes) {
    Shape embd{layer.model.embd}, key{axes.k_heads, axes.d};
    // All of a key head together: an older converter.
    if (axes.order == HeadOrder::Grouped && layer.has("ssm_in.weight")) {
        Layout rows({axes.k_heads},
                    {Layout({axes.d}), Layout({axes.d}), Layout({axes.v_per_k, axes.dv}),
                     Layout({axes.v_per_k, axes.dv})});
        auto parts = projections(layer, h, "ssm_in", rows, embd);
        return {parts[0], parts[1], parts[2], parts[3]};
    }
    auto parts = projections(layer, h, "attn_qkv",
                             Layout({}, {Layout(key), Layout(key), Layout(axes.values())}), embd);
    return {parts[0], parts[1], parts[2], projection(layer, h, "attn_gate", axes.values(), embd)};
}

// Logits of beta and of the decay.
std::pair<Tensor, Tensor> gates(Layer& layer, Tensor h, const DeltaAxes& axes) {
    Shape embd{layer.model.embd};
    if (axes.order == HeadOrder::Tiled || !layer.has("ssm_ba.weight"))
        return {projection(layer, h, "ssm_beta", axes.heads, embd),
                projection(layer, h, "ssm_alpha", axes.heads, embd)};
    Layout rows({axes.k_heads}, {Layout({axes.v_per_k}), Layout({axes.v_per_k})});
    auto parts = projections(layer, h, "ssm_ba", rows, embd);
    return {parts[0], parts[1]};
}

Tensor gated_delta_net(Layer& layer, Tensor h, HeadOrder order) {
    DeltaAxes axes = delta_axes(layer, order);
    double epsilon = layer.model.epsilon;
    auto [q, k, v, z] = inputs(layer, h, axes);
    Shape key{axes.k_heads, axes.d, axes.taps};
    auto kernels = layer.model.weights(
        layer.path("ssm_conv1d.weight"),
        Layout({}, {Layout(key), Layout(key), Layout(axes.values() + Shape{axes.taps})}), {});
    q = l2_norm(convolved(layer, q, kernels[0], "conv_q"), epsilon);
    k = l2_norm(convolved(layer, k, kernels[1], "conv_k"), epsilon);
    v = convolved(layer, v, kernels[2], "conv_v");
    auto [beta, alpha] = gates(layer, h, axes);
    Tensor decay = softplus(add(alpha, layer.vector("ssm_dt.bias", axes.heads)));
    decay = mul(decay, layer.vector("ssm_a", axes.heads));  // holds -exp(A)
    Tensor o = delta_net(scale(q, 1 / std::sqrt(double(axes.d->extent))), k, v, decay,
                         sigmoid(beta), delta_state(layer, axes.heads, axes.dv, axes.d));
    o = glu(z, norm(layer, o, "ssm_norm", {axes.dv}), "silu");
    return projection(layer, o, "ssm_out", {layer.model.embd}, axes.values());
}

// Queries and keys are normed per head; the result is multiplied by a sigmoid of each query head's
// gate.
Tensor gated_attention(Layer& layer, Tensor h) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    Shape embd{layer.model.embd};
    Layout rows({kv_heads, q_per_kv}, {Layout({d}), Layout({d})});
    auto parts = projections(layer, h, "attn_q", rows, embd);
    Tensor k = projection(layer, h, "attn_k", {kv_heads, d}, embd);
    Tensor v = projection(layer, h, "attn_v", {kv_heads, dv}, embd);
    Tensor q = norm(layer, parts[0], "attn_q_norm", {d});
    k = norm(layer, k, "attn_k_norm", {d});
    q = rotate(layer, q);
    k = rotate(layer, k);
    Tensor mixed = attend(q, k, v, layer.cache(axes), 1 / std::sqrt(double(d->extent)));
    mixed = mul(mixed, sigmoid(parts[1]));
    return projection(layer, mixed, "attn_output", embd, {kv_heads, q_per_kv, dv});
}

}  // namespace

void build_hybrid(Builder& model, HeadOrder order, Tensor (*feed_forward)(Layer& layer, Tensor h)) {
    model.leave_out_drafts();
    model.rope = rope_parameters(model, true);
    require_text_positions(model, Sections::ByTurns);
    Shape embd{model.embd};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        Tensor h = norm(layer, x, "attn_norm", embd);
        x = add(x,
                is_recurrent(layer) ? gated_delta_net(layer, h, order) : gated_attention(layer, h));
        // Which is the norm before the network, whatever its name says.
        x = add(x, feed_forward(layer, norm(layer, x, "post_attention_norm", embd)));
    }
    head(model, x);
}

}  // namespace tandem::model
