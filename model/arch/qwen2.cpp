// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama with biases on queries, keys and values.
#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

void build(Builder& model) {
    model.rope = rope_parameters(model, true);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, rotary_attention(layer, norm(layer, x, "attn_norm", {model.embd})));
        Tensor h = norm(layer, x, "ffn_norm", {model.embd});
        x = add(x, dense_ffn(layer, h, layer.ffn_width(), "silu"));
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen2{.name = "qwen2", .build = build};

}  // namespace tandem::model::arch
