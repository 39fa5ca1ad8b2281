// Multi-head latent attention (DeepSeek-V2 2024) in its absorbed form: the cache holds one latent
// row per token, which is key and value of all heads, and one rotary key. Old files have the two
// expansions of the latent in one matrix, attn_kv_b; then every head has keys and values of its
// own.
#pragma once

#include "model/builder.h"

namespace tandem::model {

struct LatentAttention {
    bool rotary = true;  // false: the rotary parts are used as they are (Kimi-Linear)
    double scale = 1;    // of scores
    // Applied to the assembled queries; empty: none.
    Tensor (*temper)(Layer& layer, Tensor q) = nullptr;
};

// Elements of a query head: the part without positions and the rotary part together.
int64_t latent_head_size(const Builder& model);

// h [tokens embd], normed -> what is added to the stream.
Tensor latent_attention(Layer& layer, Tensor h, const LatentAttention& how);

}  // namespace tandem::model
