// DeepSeek-V2, V3 and R1 (2024), and their relatives Kimi-K2, GLM-4.7-Flash and Mistral-Large-3:
// latent attention and experts.
#include <cmath>

#include "model/blocks.h"
#include "model/latent_attention.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

// YaRN moves its magnitude from the rotary embedding into the scores, where it meets the other part
// of a key, too.
LatentAttention attention_of(Builder& model) {
    double size = double(latent_head_size(model)), attention = 1;
    double multiplier = model.keys.finite("rope.scaling.yarn_log_multiplier", 0) / 0.1;
    if (model.rope.extrapolation > 0 && multiplier > 0) {
        model.rope.magnitude /= yarn_magnitude(model.rope, 1);
        attention = yarn_magnitude(model.rope, multiplier);
    }
    attention *= model.rope.magnitude;
    bool tempers = model.keys.finite("attention.temperature_scale", 0) != 0;
    return {.scale = attention * attention / std::sqrt(size),
            .temper = tempers ? tempered : nullptr};
}

// Early files of GLM-4.7-Flash do not say that its scores are sigmoids.
Mixture::Scores scores_without_key(const Layer& layer) {
    const Builder& model = layer.model;
    const int64_t blocks = model.keys.integer("block_count");
    const bool flash = (blocks == 47 || blocks == 48) && model.vocab->extent == 154880;
    return flash ? Mixture::Scores::Sigmoid : Mixture::Scores::Softmax;
}

Tensor feed_forward(Layer& layer, Tensor h) {
    const Hyperparameters& keys = layer.model.keys;
    if (layer.index < keys.integer("leading_dense_block_count", 0))
        return dense_ffn(layer, h, layer.ffn_width(), "silu");
    const int64_t width = expert_width(layer), shared = width_of_shared(layer, 0);
    Tensor y = mixture(layer, h, width, mixture_of_keys(layer.model, scores_without_key(layer)));
    return shared > 0 ? add(y, shared_expert(layer, h, shared)) : y;
}

void build(Builder& model) {
    model.leave_out_drafts();
    model.rope = rope_parameters(model, false, latent_head_size(model));
    LatentAttention attention = attention_of(model);
    Shape embd{model.embd};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, latent_attention(layer, norm(layer, x, "attn_norm", embd), attention));
        x = add(x, feed_forward(layer, norm(layer, x, "ffn_norm", embd)));
    }
    head(model, x);
}

}  // namespace

extern const Architecture deepseek2{.name = "deepseek2", .build = build};

}  // namespace tandem::model::arch
