// gpt-oss (OpenAI 2025): attention sinks, a sliding window in every other block, and experts with
// biases and a clamped gate.
#include <cmath>

#include "model/blocks.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor attention(Layer& layer, Tensor h, const Rope& full, const Rope& windowed) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    int64_t window = window_of(layer, 2);
    layer.require("attn_output.bias");
    auto [q, k, v] = qkv(layer, h, axes);
    for (Tensor* x : {&q, &k}) *x = rope(*x, layer.model.positions(), window > 0 ? windowed : full);
    Tensor mixed = attend(
        q, k, v, layer.cache(axes, window), 1 / std::sqrt(double(d->extent)),
        {.window = window, .sinks = layer.vector("attn_sinks.weight", {kv_heads, q_per_kv})});
    return projection(layer, mixed, "attn_output", {layer.model.embd}, {kv_heads, q_per_kv, dv});
}

void build(Builder& model) {
    const Rope full = rope_parameters(model, true);
    const double windowed_base = model.keys.positive("rope.freq_base_swa", full.base);
    const Rope windowed = rope_parameters(model, true, model.head_size(), windowed_base);
    Shape embd{model.embd};
    Mixture experts{.scores = Mixture::Scores::SoftmaxOfChosen,
                    .renormalise = false,
                    .activation = "clamped_swiglu"};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, attention(layer, norm(layer, x, "attn_norm", embd), full, windowed));
        // Which is the norm before the experts, whatever its name says.
        Tensor h = norm(layer, x, "post_attention_norm", embd);
        for (const char* name :
             {"ffn_gate_inp.bias", "ffn_gate_exps.bias", "ffn_up_exps.bias", "ffn_down_exps.bias"})
            layer.require(name);
        x = add(x, mixture(layer, h, expert_width(layer), experts));
    }
    model.require("output.weight");
    head(model, x);
}

}  // namespace

extern const Architecture gpt_oss{.name = "gpt-oss", .build = build};

}  // namespace tandem::model::arch
