// Gemma 3 (Google 2025): sliding windows in five blocks of six, which have a rotary base of their
// own, and norms before and behind each block.
#include <cmath>

#include "model/blocks.h"

namespace tandem::model::arch {

namespace {

// By the head size, but for the 27B model, which divides its width among the heads for it.
double scale_of_scores(const Builder& model) {
    bool is_27b = model.layers() == 62;
    return 1 / std::sqrt(double(is_27b ? model.even_head_size() : model.head_size()));
}

Tensor attention(Layer& layer, Tensor h, const Rope& full, const Rope& windowed) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    bool slides = layer.model.keys.integer("attention.sliding_window", 0) != 0;
    int64_t window = slides ? window_of(layer, 6) : 0;
    Tensor positions = layer.model.positions();
    auto [q, k, v] = qkv(layer, h, axes);
    q = norm(layer, q, "attn_q_norm", {d});
    k = norm(layer, k, "attn_k_norm", {d});
    q = rope(q, positions, window > 0 ? windowed : full);
    k = rope(k, positions, window > 0 ? windowed : full);
    Tensor mixed = attend(q, k, v, layer.cache(axes, window), scale_of_scores(layer.model),
                          {.window = window});
    return projection(layer, mixed, "attn_output", {layer.model.embd}, {kv_heads, q_per_kv, dv});
}

void build(Builder& model) {
    // Some converters call the two bases rope.global.freq_base and rope.local.freq_base.
    const double usual = 10000, base = model.keys.positive("rope.global.freq_base", usual),
                 of_window = model.keys.positive("rope.local.freq_base", usual);
    Rope full = rope_parameters(model, true, model.head_size(),
                                model.keys.positive("rope.freq_base", base)),
         windowed = windowed_rope(model, full, of_window, model.head_size());
    Shape embd{model.embd};
    Tensor x = scale(embedding(model), std::sqrt(double(model.embd->extent)));
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        Tensor h = attention(layer, norm(layer, x, "attn_norm", embd), full, windowed);
        x = add(x, norm(layer, h, "post_attention_norm", embd));
        h = dense_ffn(layer, norm(layer, x, "ffn_norm", embd), layer.ffn_width(), "gelu");
        x = add(x, norm(layer, h, "post_ffw_norm", embd));
    }
    head(model, x, model.keys.finite("final_logit_softcapping", 0));
}

}  // namespace

extern const Architecture gemma3{.name = "gemma3", .build = build};

}  // namespace tandem::model::arch
