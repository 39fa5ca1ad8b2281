// Qwen3 with a mixture of experts in every block (Yang et al. 2025).
#include "model/blocks.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

void build(Builder& model) {
    model.rope = rope_parameters(model, true);
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        x = add(x, rotary_attention(layer, norm(layer, x, "attn_norm", {model.embd}),
                                    HeadNorms::Required));
        Tensor h = norm(layer, x, "ffn_norm", {model.embd});
        x = add(x, mixture(layer, h, expert_width(layer)));
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen3moe{.name = "qwen3moe", .build = build};

}  // namespace tandem::model::arch
