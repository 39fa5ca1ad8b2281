// Qwen3 (Yang et al. 2025), dense.
#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor x) {
    Tensor h = norm(layer, x, "ffn_norm", {layer.model.embd});
    int64_t width = layer.model.keys.extent_of_layer("feed_forward_length", layer.index);
    return dense_ffn(layer, h, width, "silu");
}

void build(Builder& model) {
    model.rope = rope_parameters(model, true);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, qk_normed_attention(layer, x));
        x = add(x, feed_forward(layer, x));
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen3{.name = "qwen3", .build = build};

}  // namespace tandem::model::arch
