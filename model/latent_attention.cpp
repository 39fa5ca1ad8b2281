#include "model/latent_attention.h"

#include "gguf/error.h"
#include "model/blocks.h"

namespace tandem::model {

int64_t latent_head_size(const Builder& model) {
    // Files from before the split of attn_kv_b give the size of a head in the plain key.
    return model.keys.extent("attention.key_length_mla", model.keys.extent("attention.key_length"));
}

namespace {

struct Axes {
    Axis kv_heads;       // one: the latent is shared by all heads
    Axis q_per_kv;       // the heads
    Axis plain, rotary;  // parts of a query head, without and with positions
    Axis latent, value;  // of the cache, of a head's result
};

Axes axes_of(Layer& layer) {
    const Builder& model = layer.model;
    const Hyperparameters& keys = model.keys;
    int64_t size = latent_head_size(model), rotary = keys.extent("rope.dimension_count");
    if (rotary >= size)
        throw Error(model.file.path() + ": key " + keys.architecture() +
                    ".rope.dimension_count is " + std::to_string(rotary) +
                    ", expected less than the head size " + std::to_string(size));
    return {.kv_heads = layer.axis("kv_heads", 1),
            .q_per_kv =
                layer.axis("q_per_kv", keys.extent_of_layer("attention.head_count", layer.index)),
            .plain = layer.axis("plain", size - rotary),
            .rotary = layer.axis("rotary", rotary),
            .latent = layer.axis("latent", keys.extent("attention.kv_lora_rank")),
            .value = layer.axis("dv", keys.extent("attention.value_length_mla",
                                                  keys.extent("attention.value_length")))};
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

}  // namespace

Tensor latent_attention(Layer& layer, Tensor h, const LatentAttention& how) {
    Axes axes = axes_of(layer);
    auto [kv_heads, q_per_kv, plain, rotary, latent, value] = axes;
    if (!layer.has("attn_k_b.weight") && layer.has("attn_kv_b.weight"))
        throw Error(layer.model.file.path() + ": tensor " + layer.path("attn_kv_b.weight") +
                    " is in the form of old files: convert the model again, or take a newer file "
                    "with attn_k_b and attn_v_b");
    auto [q, q_rotary] = queries(layer, h, axes);
    auto compressed =
        projections(layer, h, "attn_kv_a_mqa",
                    Layout({}, {Layout({kv_heads, latent}), Layout({rotary})}), {layer.model.embd});
    Tensor c = norm(layer, compressed[0], "attn_kv_a_norm", {latent}), k_rotary = compressed[1];
    if (how.rotary) {
        q_rotary = rotate(layer, q_rotary);
        k_rotary = rotate(layer, k_rotary);
    }
    q = projection(layer, q, "attn_k_b", {kv_heads, q_per_kv, latent}, {plain});
    if (how.temper) {
        q = how.temper(layer, q);
        q_rotary = how.temper(layer, q_rotary);
    }
    Tensor rows = layer.cells("latent_cache", {kv_heads}, latent);
    Tensor mixed =
        attend(q, c, {}, {rows, rows}, how.scale,
               {.q = q_rotary, .k = k_rotary, .cache = layer.cells("rotary_cache", {}, rotary)});
    mixed = projection(layer, mixed, "attn_v_b", {kv_heads, q_per_kv, value}, {latent});
    return projection(layer, mixed, "attn_output", {layer.model.embd}, {kv_heads, q_per_kv, value});
}

}  // namespace tandem::model
