#include "model/latent_attention.h"

#include "gguf/error.h"
#include "model/blocks.h"

namespace tandem::model {

namespace {

// By the key that ends in _mla; files from before the split of attn_kv_b give it in the plain one.
int64_t of_head(const Hyperparameters& keys, const std::string& key) {
    const std::string own = key + "_mla";
    return keys.extent(keys.list(own).empty() ? key : own);
}

}  // namespace

int64_t latent_head_size(const Builder& model) {
    return of_head(model.keys, "attention.key_length");
}

namespace {

struct Axes {
    Axis kv_heads, q_per_kv;  // one kv head for all, or one for each
    Axis plain, rotary;       // parts of a query head, without and with positions
    Axis latent, value;       // of the cache, of a head's result
};

// Some files have the two parts of attn_kv_b beside the whole.
bool is_absorbed(const Layer& layer) {
    return layer.has("attn_k_b.weight") || !layer.has("attn_kv_b.weight");
}

Axes axes_of(Layer& layer) {
    const Builder& model = layer.model;
    const Hyperparameters& keys = model.keys;
    int64_t size = latent_head_size(model), rotary = keys.extent("rope.dimension_count");
    if (rotary >= size)
        throw Error(model.file.path() + ": key " + keys.architecture() +
                    ".rope.dimension_count is " + std::to_string(rotary) +
                    ", expected less than the head size " + std::to_string(size));
    int64_t heads = keys.extent_of_layer("attention.head_count", layer.index);
    return {.kv_heads = layer.axis("kv_heads", is_absorbed(layer) ? 1 : heads),
            .q_per_kv = layer.axis("q_per_kv", is_absorbed(layer) ? heads : 1),
            .plain = layer.axis("plain", size - rotary),
            .rotary = layer.axis("rotary", rotary),
            .latent = layer.axis("latent", keys.extent("attention.kv_lora_rank")),
            .value = layer.axis("dv", of_head(keys, "attention.value_length"))};
}

// The two parts of the queries, straight from h or by way of a narrow normed vector.
std::pair<Tensor, Tensor> queries(Layer& layer, Tensor h, const Axes& axes) {
    Layout rows({axes.kv_heads, axes.q_per_kv}, {Layout({axes.plain}), Layout({axes.rotary})});
    if (layer.has("attn_q.weight")) {
        auto parts = projections(layer, h, "attn_q", rows, {layer.model.embd});
        return {parts[0], parts[1]};
    }
    Axis narrow = layer.axis("q_latent", layer.model.keys.extent("attention.q_lora_rank"));
    Tensor compressed = norm(layer, projection(layer, h, "attn_q_a", {narrow}, {layer.model.embd}),
                             "attn_q_a_norm", {narrow});
    auto parts = projections(layer, compressed, "attn_q_b", rows, {narrow});
    return {parts[0], parts[1]};
}

// What attention makes of h, before norms and rotations: these come last, right before it.
struct Compressed {
    Tensor latent, q, k;  // q and k: the rotary part
};

Tensor normed_latent(Layer& layer, const Compressed& from, const Axes& axes) {
    return norm(layer, from.latent, "attn_kv_a_norm", {axes.latent});
}

// The rotary part with its cache.
graph::Attention rotary_part(Layer& layer, const Compressed& from, const Axes& axes,
                             const LatentAttention& how) {
    Tensor q = how.rotary ? rotate(layer, from.q) : from.q;
    Tensor k = how.rotary ? rotate(layer, from.k) : from.k;
    if (how.temper) q = how.temper(layer, q);
    return {.q = q, .k = k, .cache = layer.cells("rotary_cache", {}, axes.rotary)};
}

// The latent as key and value of all heads: [tokens kv_heads q_per_kv value].
Tensor absorbed(Layer& layer, Tensor q, const Compressed& from, const Axes& axes,
                const LatentAttention& how) {
    auto [kv_heads, q_per_kv, plain, rotary_size, latent, value] = axes;
    q = projection(layer, q, "attn_k_b", {kv_heads, q_per_kv, latent}, {plain});
    if (how.temper) q = how.temper(layer, q);
    Tensor rows = layer.cells("latent_cache", {kv_heads}, latent);
    Tensor c = normed_latent(layer, from, axes);
    Tensor mixed = attend(q, c, {}, {rows, rows}, how.scale, rotary_part(layer, from, axes, how));
    return projection(layer, mixed, "attn_v_b", {kv_heads, q_per_kv, value}, {latent});
}

// Keys and values of each head from the latent.
Tensor expanded(Layer& layer, Tensor q, const Compressed& from, const Axes& axes,
                const LatentAttention& how) {
    Layout rows({axes.kv_heads}, {Layout({axes.plain}), Layout({axes.value})});
    auto parts =
        projections(layer, normed_latent(layer, from, axes), "attn_kv_b", rows, {axes.latent});
    if (how.temper) q = how.temper(layer, q);
    graph::Cache cells{layer.cells("k_cache", {axes.kv_heads}, axes.plain),
                       layer.cells("v_cache", {axes.kv_heads}, axes.value)};
    return attend(q, parts[0], parts[1], cells, how.scale, rotary_part(layer, from, axes, how));
}

}  // namespace

Tensor latent_attention(Layer& layer, Tensor h, const LatentAttention& how) {
    if (is_absorbed(layer)) layer.model.leave_out(layer.path("attn_kv_b."));
    Axes axes = axes_of(layer);
    Axis embd = layer.model.embd;
    auto [q, q_rotary] = queries(layer, h, axes);
    Shape latent{axes.latent};
    if (is_absorbed(layer)) latent = {axes.kv_heads, axes.latent};
    auto compressed = projections(layer, h, "attn_kv_a_mqa",
                                  Layout({}, {Layout(latent), Layout({axes.rotary})}), {embd});
    auto mix = is_absorbed(layer) ? absorbed : expanded;
    const Compressed from{compressed[0], q_rotary, compressed[1]};
    return projection(layer, mix(layer, q, from, axes, how), "attn_output", {embd},
                      {axes.kv_heads, axes.q_per_kv, axes.value});
}

}  // namespace tandem::model
