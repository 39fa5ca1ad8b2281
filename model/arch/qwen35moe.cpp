// Qwen3.5 with experts in every block (Qwen team 2026).
#include "model/blocks.h"
#include "model/delta_net.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

void build(Builder& model) {
    model.leave_out_drafts();
    model.rope = rope_parameters(model, true);
    Shape embd{model.embd};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        Tensor h = norm(layer, x, "attn_norm", embd);
        x = add(x, is_recurrent(layer) ? gated_delta_net(layer, h, HeadOrder::Tiled)
                                       : gated_attention(layer, h));
        h = norm(layer, x, "post_attention_norm", embd);
        Tensor y = mixture(layer, h, expert_width(layer));
        y = add(y, shared_expert(layer, h, shared_expert_width(layer)));
        x = add(x, y);
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen35moe{.name = "qwen35moe", .build = build};

}  // namespace tandem::model::arch
