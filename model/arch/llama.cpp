// Llama 1 to 3.x (Touvron et al. 2023, Grattafiori et al. 2024), Mistral (Jiang et al. 2023) and
// Mixtral (Jiang et al. 2024), which has experts in place of the dense network.
#include <cmath>

#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

Tensor attention(Layer& layer, Tensor x) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    Axis embd = layer.model.embd;
    Tensor h = norm(layer, x, "attn_norm", {embd});
    auto [q, k, v] = qkv(layer, h, axes);
    q = rotate(layer, q);
    k = rotate(layer, k);
    Tensor mixed = attend(q, k, v, layer.cache(axes), 1 / std::sqrt(double(d->extent)));
    return projection(layer, mixed, "attn_output", {embd}, {kv_heads, q_per_kv, dv});
}

Tensor feed_forward(Layer& layer, Tensor x) {
    Tensor h = norm(layer, x, "ffn_norm", {layer.model.embd});
    int64_t width = layer.model.keys.extent_of_layer("feed_forward_length", layer.index);
    if (layer.model.keys.integer("expert_count", 0) > 0)
        return softmax_moe(layer, h, width, "silu");
    return dense_ffn(layer, h, width, "silu");
}

void build(Builder& model) {
    model.rope = rope_parameters(model, false);
    model.rope_factors = rope_factors(model, model.rope);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, attention(layer, x));
        x = add(x, feed_forward(layer, x));
    }
    head(model, x);
}

}  // namespace

extern const Architecture llama{.name = "llama", .build = build};

}  // namespace tandem::model::arch
