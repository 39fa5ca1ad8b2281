// Pieces that architectures really share. Each takes the residual stream or a normed copy of it,
// [tokens embd], and gives what is added to it.
#pragma once

#include "model/builder.h"

namespace tandem::model {

// Tokens to the residual stream; the logits of the rows that are wanted, with a cap where it is
// above 0.
Tensor embedding(Builder& model);
void head(Builder& model, Tensor x, double soft_cap = 0);

// Rotary parameters from the file's rope.* keys: base, linear scaling or YaRN. `halves` is the
// pairing that the architecture uses (NeoX), else neighbours.
Rope rope_parameters(const Builder& model, bool halves);
Rope rope_parameters(const Builder& model, bool halves, int64_t head_size);
Rope rope_parameters(const Builder& model, bool halves, int64_t head_size, double base);
// Frequency factors that the file may carry for them: rope_freqs, or the set of LongRoPE's two that
// suits the context. Empty where it has none.
Tensor rope_factors(Builder& model, const Rope& rope);

// Those of blocks with a sliding window (Gemma): a base of their own, rope.freq_base_swa, and no
// scaling; as many elements as in the other blocks, or all of a smaller head, unless the file says.
Rope windowed_rope(const Builder& model, const Rope& full, double base, int64_t head_size);
// YaRN's 1 + 0.1 a ln(scale).
double yarn_magnitude(const Rope& rope, double multiplier);
// True where positions have several dimensions (M-RoPE), which pairs up the halves of a head.
bool has_position_sections(const Builder& model);
// How they are dealt to the pairs: to one section after the other, or by turns (IM-RoPE).
enum class Sections { InOrder, ByTurns };
// Text has the same position in all of them but the fourth: an Error where a pair follows that.
void require_text_positions(const Builder& model, Sections dealt);
// Queries after the rotary embedding, which grow with their position where the file says so.
Tensor tempered(Layer& layer, Tensor q);

// The tokens that a block sees: attention.sliding_window where it slides (a missing key is an
// Error), 0 for all. By attention.sliding_window_pattern: a flag for each block, or a period, of
// which all but the last block slide; `period` is the architecture's own, 0 where only flags will
// do.
int64_t window_of(const Layer& layer, int64_t period);

// RMS norm with the block's weight `name`, over the axes of the weight.
Tensor norm(Layer& layer, Tensor x, std::string_view name, const Shape& axes);
// x times the block's matrix `name`, with its `.scale` and `.bias` where the file has them:
// scale * (W x) + bias.
Tensor projection(Layer& layer, Tensor x, std::string_view name, const Shape& rows,
                  const Shape& columns);
// The parts of one tensor, each with the same columns.
std::vector<Tensor> projections(Layer& layer, Tensor x, std::string_view name, const Layout& rows,
                                const Shape& columns);
struct Projections {
    Tensor q, k, v;
};
// attn_q, attn_k, attn_v, or the same rows in one attn_qkv.
Projections qkv(Layer& layer, Tensor h, const AttentionAxes& axes);
Tensor rotate(Layer& layer, Tensor x);
// Grouped attention with rotary embedding. Queries and keys are normed per head before they are
// rotated where the block has norms for them.
enum class HeadNorms { None, Optional, Required };
Tensor rotary_attention(Layer& layer, Tensor h, HeadNorms norms = HeadNorms::None);
// down(activation(gate h) * (up h)). Scales multiply the biases, too: scale * (W x + bias).
Tensor dense_ffn(Layer& layer, Tensor h, int64_t width, std::string_view activation);
// The same with names that end otherwise, over an axis that is given.
Tensor gated_ffn(Layer& layer, Tensor h, Axis ffn, std::string_view activation,
                 std::string_view suffix);

}  // namespace tandem::model
