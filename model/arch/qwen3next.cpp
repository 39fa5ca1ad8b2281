// Qwen3-Next (Qwen team 2025): three blocks of four are delta nets; experts in every block.
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
        x = add(x, is_recurrent(layer) ? gated_delta_net(layer, h, HeadOrder::Grouped)
                                       : gated_attention(layer, h));
        h = norm(layer, x, "post_attention_norm", embd);
        Tensor y = mixture(layer, h, expert_width(layer));
        y = add(y, shared_expert(layer, h, shared_expert_width(layer)));
        x = add(x, y);
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen3next{.name = "qwen3next", .build = build};

}  // namespace tandem::model::arch
