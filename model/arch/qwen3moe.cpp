// Qwen3 with a mixture of experts in every block (Yang et al. 2025).
#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor x) {
    const Hyperparameters& keys = layer.model.keys;
    Tensor h = norm(layer, x, "ffn_norm", {layer.model.embd});
    int64_t width = keys.of_layer("expert_feed_forward_length", layer.index, 0);
    if (width == 0)
        width = keys.extent_of_layer("feed_forward_length", layer.index) /
                keys.extent("expert_used_count");
    return softmax_moe(layer, h, width, "silu");
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

extern const Architecture qwen3moe{.name = "qwen3moe", .build = build};

}  // namespace tandem::model::arch
