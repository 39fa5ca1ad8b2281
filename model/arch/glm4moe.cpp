// GLM-4.5 to 4.7 (Zhipu AI 2025): a mixture of experts behind a few dense blocks.
#include "model/blocks.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor h) {
    const Hyperparameters& keys = layer.model.keys;
    if (layer.index < keys.integer("leading_dense_block_count", 0))
        return dense_ffn(layer, h, layer.ffn_width(), "silu");
    const int64_t width = expert_width(layer), shared = width_of_shared(layer);
    layer.require("exp_probs_b.bias");
    Tensor y = mixture(layer, h, width, mixture_of_keys(layer.model, Mixture::Scores::Sigmoid));
    return shared > 0 ? add(y, shared_expert(layer, h, shared)) : y;
}

void build(Builder& model) {
    model.leave_out_drafts();
    model.rope = rope_parameters(model, true);
    require_text_positions(model, Sections::InOrder);
    Shape embd{model.embd};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, rotary_attention(layer, norm(layer, x, "attn_norm", embd), HeadNorms::Optional));
        // Which is the norm before the experts, whatever its name says.
        x = add(x, feed_forward(layer, norm(layer, x, "post_attention_norm", embd)));
    }
    head(model, x);
}

}  // namespace

extern const Architecture glm4moe{.name = "glm4moe", .build = build};

}  // namespace tandem::model::arch
