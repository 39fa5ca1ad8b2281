// Qwen3.5, dense (Qwen team 2026): three blocks of four are delta nets. For text its rotary
// embedding over several dimensions is the plain one.
#include "model/blocks.h"
#include "model/delta_net.h"

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
        x = add(x, dense_ffn(layer, h, layer.ffn_width(), "silu"));
    }
    head(model, x);
}

}  // namespace

extern const Architecture qwen35{.name = "qwen35", .build = build};

}  // namespace tandem::model::arch
