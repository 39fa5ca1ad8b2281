// Mistral Small 3.x and Ministral 3: Llama with YaRN whose magnitude the file tells, and queries
// that grow with their position.
#include <cmath>

#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

Tensor attention(Layer& layer, Tensor h) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    auto [q, k, v] = qkv(layer, h, axes);
    q = tempered(layer, rotate(layer, q));
    k = rotate(layer, k);
    Tensor mixed = attend(q, k, v, layer.cache(axes), 1 / std::sqrt(double(d->extent)));
    return projection(layer, mixed, "attn_output", {layer.model.embd}, {kv_heads, q_per_kv, dv});
}

void build(Builder& model) {
    model.rope = rope_parameters(model, false);
    double multiplier = model.keys.finite("rope.scaling.yarn_log_multiplier", 0);
    if (model.rope.extrapolation > 0 && multiplier > 0)
        model.rope.magnitude /= yarn_magnitude(model.rope, multiplier);
    model.rope_factors = rope_factors(model, model.rope);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, attention(layer, norm(layer, x, "attn_norm", {model.embd})));
        Tensor h = norm(layer, x, "ffn_norm", {model.embd});
        x = add(x, dense_ffn(layer, h, layer.ffn_width(), "silu"));
    }
    head(model, x);
}

}  // namespace

extern const Architecture mistral3{.name = "mistral3", .build = build};

}  // namespace tandem::model::arch
