// Pieces that architectures really share. Each takes the residual stream or a normed copy of it,
// [tokens embd], and gives what is added to it.
#pragma once

#include "model/builder.h"

namespace tandem::model {

// Tokens to the residual stream; the logits of the rows that are wanted.
Tensor embedding(Builder& model);
void head(Builder& model, Tensor x);

// Rotary parameters from the file's rope.* keys: base, linear scaling or YaRN. `halves` is the
// pairing that the architecture uses (NeoX), else neighbours.
Rope rope_parameters(const Builder& model, bool halves);
// Frequency factors that the file may carry for them: rope_freqs, or the set of LongRoPE's two that
// suits the context. Empty where it has none.
Tensor rope_factors(Builder& model, const Rope& rope);

// RMS norm with the block's weight `name`, over the axes of the weight.
Tensor norm(Layer& layer, Tensor x, std::string_view name, const Shape& axes);
// x times the block's matrix `name`, with its `.scale` and `.bias` where the file has them:
// scale * (W x) + bias.
Tensor projection(Layer& layer, Tensor x, std::string_view name, const Shape& rows,
                  const Shape& columns);
struct Projections {
    Tensor q, k, v;
};
// attn_q, attn_k, attn_v, or the same rows in one attn_qkv.
Projections qkv(Layer& layer, Tensor h, const AttentionAxes& axes);
Tensor rotate(Layer& layer, Tensor x);
// Grouped attention whose queries and keys are normed per head before they are rotated (Qwen3).
Tensor qk_normed_attention(Layer& layer, Tensor x);
// down(activation(gate h) * (up h)). Scales multiply the biases, too: scale * (W x + bias).
Tensor dense_ffn(Layer& layer, Tensor h, int64_t width, std::string_view activation);
// Mixture of experts: softmax over all, the best `used` renormalised (Mixtral, Qwen3). The experts'
// matrices may have a `.scale` for each expert.
Tensor softmax_moe(Layer& layer, Tensor h, int64_t width, std::string_view activation);

}  // namespace tandem::model
