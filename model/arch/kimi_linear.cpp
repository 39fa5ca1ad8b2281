// Kimi-Linear (Moonshot AI 2025): delta attention with a decay per key channel, and latent
// attention without positions in every fourth block.
#include <cmath>

#include "model/blocks.h"
#include "model/delta_net.h"
#include "model/latent_attention.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor delta_attention(Layer& layer, Tensor h) {
    Builder& model = layer.model;
    const Hyperparameters& keys = model.keys;
    Axis heads = layer.axis("k_heads", keys.extent_of_layer("attention.head_count", layer.index));
    Axis d = layer.axis("d", keys.extent("kda.head_dim")), dv = layer.axis("dv", d->extent);
    Axis narrow = layer.axis("narrow", d->extent),
         taps = layer.axis("taps", keys.extent("ssm.conv_kernel"));
    Shape embd{model.embd};
    auto conv = [&](const char* name, const char* kernel, Axis size) {
        Tensor x = projection(layer, h, name, {heads, size}, embd);
        Layout rows({}, {Layout({heads, size, taps})});
        std::string path = layer.path(std::string(kernel) + ".weight");
        return convolved(layer, x, model.weights(path, rows, {})[0],
                         std::string(kernel) + "_state");
    };
    Tensor q = l2_norm(conv("attn_q", "ssm_conv1d_q", d), model.epsilon);
    Tensor k = l2_norm(conv("attn_k", "ssm_conv1d_k", d), model.epsilon);
    Tensor v = conv("attn_v", "ssm_conv1d_v", dv);
    auto by_way_of = [&](const char* down, const char* up, const Shape& rows) {
        return projection(layer, projection(layer, h, down, {narrow}, embd), up, rows, {narrow});
    };
    Tensor decay = softplus(
        add(by_way_of("ssm_f_a", "ssm_f_b", {heads, d}), layer.vector("ssm_dt.bias", {heads, d})));
    decay = mul(decay, layer.vector("ssm_a", {heads}));  // holds -exp(A)
    Tensor beta = sigmoid(projection(layer, h, "ssm_beta", {heads}, embd));
    Tensor o = delta_net(scale(q, 1 / std::sqrt(double(d->extent))), k, v, decay, beta,
                         delta_state(layer, {heads}, dv, d));
    Tensor gate = sigmoid(by_way_of("ssm_g_a", "ssm_g_b", {heads, dv}));
    o = mul(norm(layer, o, "ssm_norm", {dv}), gate);
    return projection(layer, o, "attn_output", embd, {heads, dv});
}

Tensor feed_forward(Layer& layer, Tensor h) {
    const Hyperparameters& keys = layer.model.keys;
    if (layer.index < keys.integer("leading_dense_block_count", 0))
        return dense_ffn(layer, h, layer.ffn_width(), "silu");
    Mixture how = mixture_of_keys(layer.model, Mixture::Scores::Sigmoid);
    how.renormalise = true;
    const int64_t width = expert_width(layer);
    layer.require("exp_probs_b.bias");
    Tensor y = mixture(layer, h, width, how);
    return add(y, shared_expert(layer, h, std::max(width, width_of_shared(layer, 1))));
}

void build(Builder& model) {
    Shape embd{model.embd};
    LatentAttention latent{.rotary = false,
                           .scale = 1 / std::sqrt(double(latent_head_size(model)))};
    Tensor x = embedding(model);
    for (int i = 0; i < model.layers(); ++i) {
        Layer layer = model.layer(i);
        Tensor h = norm(layer, x, "attn_norm", embd);
        bool recurrent = model.keys.of_layer("attention.head_count_kv", i) == 0;
        x = add(x, recurrent ? delta_attention(layer, h) : latent_attention(layer, h, latent));
        x = add(x, feed_forward(layer, norm(layer, x, "ffn_norm", embd)));
    }
    model.require("output.weight");
    head(model, x);
}

}  // namespace

extern const Architecture kimi_linear{.name = "kimi-linear", .build = build};

}  // namespace tandem::model::arch
