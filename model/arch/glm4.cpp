// GLM-4-0414 (Zhipu AI 2025): norms before and behind each block, rotary embedding of half a head.
#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

// Gate and up lie in one tensor.
Tensor feed_forward(Layer& layer, Tensor h) {
    Axis embd = layer.model.embd, ffn = layer.axis("ffn", layer.ffn_width());
    auto parts =
        projections(layer, h, "ffn_up", Layout({}, {Layout({ffn}), Layout({ffn})}), {embd});
    return projection(layer, glu(parts[0], parts[1], "silu"), "ffn_down", {embd}, {ffn});
}

void build(Builder& model) {
    model.leave_out_drafts();
    model.rope = rope_parameters(model, has_position_sections(model));
    require_text_positions(model, Sections::InOrder);
    Shape embd{model.embd};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        Tensor h = rotary_attention(layer, norm(layer, x, "attn_norm", embd));
        x = add(x, norm(layer, h, "post_attention_norm", embd));
        h = feed_forward(layer, norm(layer, x, "ffn_norm", embd));
        x = add(x, norm(layer, h, "post_ffw_norm", embd));
    }
    head(model, x);
}

}  // namespace

extern const Architecture glm4{.name = "glm4", .build = build};

}  // namespace tandem::model::arch
