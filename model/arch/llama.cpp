// Llama 1 to 3.x (Touvron et al. 2023, Grattafiori et al. 2024), Mistral (Jiang et al. 2023) and
// Mixtral (Jiang et al. 2024), which has experts in place of the dense network.
#include "model/blocks.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor h) {
    if (layer.model.keys.integer("expert_count", 0) > 0)
        return mixture(layer, h, layer.ffn_width());
    return dense_ffn(layer, h, layer.ffn_width(), "silu");
}

void build(Builder& model) {
    model.rope = rope_parameters(model, false);
    model.rope_factors = rope_factors(model, model.rope);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, rotary_attention(layer, norm(layer, x, "attn_norm", {model.embd})));
        x = add(x, feed_forward(layer, norm(layer, x, "ffn_norm", {model.embd})));
    }
    head(model, x);
}

}  // namespace

extern const Architecture llama{.name = "llama", .build = build};

}  // namespace tandem::model::arch
