// Gemma 4 (Google 2026), dense and with experts: blocks with a sliding window and blocks that see
// everything differ in head size, kv heads and rotary embedding; the last blocks may read the cache
// of earlier ones, and small models add a part of a per-layer embedding in every block.
#include <cmath>

#include "gguf/error.h"
#include "model/blocks.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

// What blocks of one kind, windowed or not, have in common.
struct Attending {
    int64_t head_size = 0;
    Rope rope;
    Tensor factors;  // made by the first full block
    // Of the last block with keys of its own, which those without read; null before the first.
    AttentionAxes axes{};
    Cache cache;
};

struct Gemma {
    Builder& model;
    Attending full, windowed;
    int with_keys = 0;       // blocks that have keys of their own come first
    Tensor layer_embedding;  // [tokens layers per_layer], empty without
    Axis layers = nullptr, per_layer = nullptr;

    explicit Gemma(Builder& model);
    void embed_per_layer(Tensor x);
    Tensor attention(Layer& layer, Tensor h);
    Tensor feed_forward(Layer& layer, Tensor x);
    Tensor block(int index, Tensor x);
};

Gemma::Gemma(Builder& model) : model(model) {
    const Hyperparameters& keys = model.keys;
    const int64_t without_keys = keys.integer("attention.shared_kv_layers", 0);
    if (without_keys < 0 || without_keys >= model.layers())
        throw Error(model.file.path() + ": key gemma4.attention.shared_kv_layers is " +
                    std::to_string(without_keys) + " of " + std::to_string(model.layers()) +
                    " blocks");
    with_keys = model.layers() - int(without_keys);
    full.head_size = model.head_size();
    windowed.head_size = keys.extent("attention.key_length_swa", full.head_size);
    full.rope = rope_parameters(model, true);
    windowed.rope = windowed_rope(model, full.rope, 10000, windowed.head_size);
}

// Two sources of what each block adds: a table, and the token's own embedding.
void Gemma::embed_per_layer(Tensor x) {
    constexpr std::string_view key = "embedding_length_per_layer_input";
    if (model.keys.integer(key, 0) == 0) return;
    const int64_t width = model.keys.extent(key);
    layers = model.graph.axis("layers", model.layers());
    per_layer = model.graph.axis("per_layer", width);
    Tensor table = model.weight("per_layer_token_embd.weight", {model.vocab}, {layers, per_layer});
    Tensor looked_up = scale(embed(table, model.graph.input("ids")), std::sqrt(double(width)));
    Tensor made =
        linear(x, model.weight("per_layer_model_proj.weight", {layers, per_layer}, {model.embd}));
    made = scale(made, 1 / std::sqrt(double(model.embd->extent)));
    made = rms_norm(made, model.vector("per_layer_proj_norm.weight", {per_layer}), model.epsilon);
    layer_embedding = scale(add(made, looked_up), std::sqrt(0.5));
}

Tensor Gemma::attention(Layer& layer, Tensor h) {
    int64_t window = window_of(layer, 0);
    Attending& kind = window > 0 ? windowed : full;
    Tensor positions = model.positions();
    auto rotated = [&](Tensor x) { return rope(x, positions, kind.rope, kind.factors); };
    const bool has_keys = layer.index < with_keys;
    if (has_keys) {
        kind.axes = layer.attention_axes(kind.head_size);
        kind.cache = layer.cache(kind.axes, window);
    }
    if (!kind.axes.d)
        throw Error(model.file.path() + ": block " + std::to_string(layer.index) +
                    " shares the keys of an earlier block, and none of those " +
                    (window > 0 ? "with" : "without") + " a window has any");
    if (window == 0 && !kind.factors) {
        model.require("rope_freqs.weight");
        kind.factors = rope_factors(model, kind.rope);
    }
    auto [kv_heads, q_per_kv, d, dv] = kind.axes;
    Shape heads{kv_heads, q_per_kv, d}, rows{kv_heads, d}, embd{model.embd};
    Tensor q = projection(layer, h, "attn_q", heads, embd), k, v;
    if (has_keys) {
        k = projection(layer, h, "attn_k", rows, embd);
        v = layer.has("attn_v.weight") ? projection(layer, h, "attn_v", rows, embd) : k;
        v = rms_norm(v, model.epsilon);
        k = norm(layer, k, "attn_k_norm", {d});
    } else {
        for (const char* unused : {"attn_k.", "attn_v.", "attn_k_norm."})
            model.leave_out(layer.path(unused));
    }
    q = rotated(norm(layer, q, "attn_q_norm", {d}));
    if (has_keys) k = rotated(k);
    Tensor mixed = attend(q, k, v, kind.cache, 1, {.window = window});
    return projection(layer, mixed, "attn_output", {model.embd}, heads);
}

// A dense network, and where the block has experts, those beside it.
Tensor Gemma::feed_forward(Layer& layer, Tensor x) {
    Shape embd{model.embd};
    bool has_experts = layer.has("ffn_gate_inp.weight");
    Axis ffn = layer.axis(has_experts ? "dense.ffn" : "ffn", layer.ffn_width());
    Tensor dense = gated_ffn(layer, norm(layer, x, "ffn_norm", embd), ffn, "gelu", "");
    if (!has_experts) return dense;
    Tensor seen = scale(rms_norm(x, model.epsilon), 1 / std::sqrt(double(model.embd->extent)));
    Mixture how{.activation = "gelu",
                .router_input = mul(seen, layer.vector("ffn_gate_inp.scale", embd))};
    Tensor chosen =
        mixture(layer, norm(layer, x, "pre_ffw_norm_2", embd), expert_width(layer), how);
    dense = norm(layer, dense, "post_ffw_norm_1", embd);
    return add(dense, norm(layer, chosen, "post_ffw_norm_2", embd));
}

Tensor Gemma::block(int index, Tensor x) {
    Layer layer = model.layer(index);
    Shape embd{model.embd};
    Tensor h = attention(layer, norm(layer, x, "attn_norm", embd));
    x = add(x, norm(layer, h, "post_attention_norm", embd));
    h = feed_forward(layer, x);
    x = add(x, norm(layer, h, "post_ffw_norm", embd));
    if (layer_embedding) {
        Tensor gate = projection(layer, x, "inp_gate", {per_layer}, embd);
        h = glu(gate, pick(layer_embedding, layers, index), "gelu");
        h = projection(layer, h, "proj", embd, {per_layer});
        x = add(x, norm(layer, h, "post_norm", embd));
    }
    if (layer.has("layer_output_scale.weight"))
        x = mul(x, layer.vector("layer_output_scale.weight", {}));
    return x;
}

void build(Builder& model) {
    Gemma gemma(model);
    Tensor x = scale(embedding(model), std::sqrt(double(model.embd->extent)));
    gemma.embed_per_layer(x);
    for (int i = 0; i < model.layers(); ++i) x = gemma.block(i, x);
    // Where every block slides, nothing is rotated by them.
    if (!gemma.full.factors) model.leave_out("rope_freqs.weight");
    head(model, x, model.keys.finite("final_logit_softcapping", 30));
}

}  // namespace

extern const Architecture gemma4{.name = "gemma4", .build = build};

}  // namespace tandem::model::arch
