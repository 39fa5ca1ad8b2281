// The words that architectures write with. Each appends one node; its rule, equations and reference
// implementation stand in graph/ops/<word>.cpp. Shapes are given as [axes], operands may have
// further axes in front (written ...), which pass through.
#pragma once

#include "graph/graph.h"

namespace tandem::graph {

// Rows of a table looked up: table [vocab | embd], ids [tokens] -> [tokens embd].
Tensor embed(Tensor table, Tensor ids);

// y = W x: x [... k], weight [n | k] -> [... n]. Axes that x shares with the weight's rows are
// batched: x [... h k], weight [h n | k] -> [... h n].
Tensor linear(Tensor x, Tensor weight);

// Element by element. The second operand may lack axes of the first: it is repeated along them.
Tensor add(Tensor a, Tensor b);
Tensor mul(Tensor a, Tensor b);
Tensor scale(Tensor x, double factor);
Tensor sigmoid(Tensor x);
// cap * tanh(x / cap)
Tensor soft_cap(Tensor x, double cap);
// activation(gate) * up; activations are named as in the papers: "silu", "gelu" (tanh form).
Tensor glu(Tensor gate, Tensor up, std::string_view activation);

// ln(1 + e^x)
Tensor softplus(Tensor x);
// The elements at one index of an axis, which the result lacks.
Tensor pick(Tensor x, Axis axis, int64_t index);

// x / sqrt(mean(x^2) + epsilon) * weight over the last axes, which are those of the weight.
Tensor rms_norm(Tensor x, Tensor weight, double epsilon);
// The same over the last axis, without a weight.
Tensor rms_norm(Tensor x, double epsilon);
// x / max(|x|, epsilon) over the last axis.
Tensor l2_norm(Tensor x, double epsilon);

// Rotary position embedding of the last axis; see graph/rope.h for the parameters.
struct Rope;
Tensor rope(Tensor x, Tensor positions, const Rope& parameters, Tensor frequency_factors = {});

// x * (1 + beta ln(1 + floor(position / length)))
Tensor temper(Tensor x, Tensor positions, double beta, double length);

// Causal attention with a cache. q [tokens kv_heads q_per_kv d], k [tokens kv_heads d],
// v [tokens kv_heads dv], caches [slots kv_heads cells | d] -> [tokens kv_heads q_per_kv dv].
// Writes k and v to the cells of the tokens' positions, then reads all cells up to each token's
// own. A cache with fewer cells than the context is a ring. Without v the values are the keys, with
// one cache for both; without k and v nothing is written: the cache is another layer's.
struct Cache {
    Tensor k, v;
};
struct Attention {
    int64_t window = 0;   // tokens that each one sees, itself included; 0: all before it
    double soft_cap = 0;  // scores become cap * tanh(score / cap); 0: they stay
    // [kv_heads q_per_kv]: scores that take part in the softmax and have no value (Xiao et al.
    // 2023, learned).
    Tensor sinks = {};
    // A second pair, whose scores are added before they are scaled: q [tokens kv_heads q_per_kv e],
    // k [tokens e] and its cache [slots cells | e], which all heads share (the rotary part of
    // multi-head latent attention).
    Tensor q = {}, k = {}, cache = {};
};
Tensor attend(Tensor q, Tensor k, Tensor v, Cache cache, double scale, const Attention& how = {});

// silu of a causal convolution of each channel over the last tokens of its sequence: x
// [tokens channels...], kernel [channels... taps], the last tap for the token itself, state
// [slots channels... | taps - 1].
Tensor short_conv(Tensor x, Tensor kernel, Tensor state);
// Gated delta rule: q and k [tokens k_heads d], v [tokens heads... dv] with k_heads among the
// heads, decay (a logarithm, never above 0) and beta [tokens heads...], decay perhaps with d
// behind, state [slots heads... dv | d] -> [tokens heads... dv].
Tensor delta_net(Tensor q, Tensor k, Tensor v, Tensor decay, Tensor beta, Tensor state);

// Over the last axis.
Tensor softmax(Tensor x);
// x / max(sum(x), 2^-14) over the last axis.
Tensor normalize(Tensor x);
// Indices of the largest `used` elements of the last axis, best first: [... choices] -> [... used].
// With groups, equal runs of choices, only from the `kept` of them whose two best elements add up
// to most (DeepSeek-V3).
struct ChoiceGroups {
    int64_t count = 1, kept = 1;
};
Tensor top_k(Tensor scores, Axis used, ChoiceGroups groups = {});
// Elements of the last axis by index: scores [... choices], ids [... used] -> [... used].
Tensor take(Tensor scores, Tensor ids);

// The chosen experts' feed-forward networks, weighted and summed: x [tokens embd], ids and weights
// [tokens used] -> [tokens embd]. The activation is one of glu's, or "clamped_swiglu" (gpt-oss).
struct Experts {
    Tensor gate, up;  // [experts ffn | embd]
    Tensor down;      // [experts embd | ffn]
    // [choices], one per expert, multiply the products; choices has the extent of experts, but
    // every device needs all of them. Each may be left out.
    Tensor gate_scale = {}, up_scale = {}, down_scale = {};
    Tensor gate_bias = {}, up_bias = {};  // [experts ffn]; may be left out
};
Tensor moe_ffn(Tensor x, Tensor ids, Tensor weights, const Experts& experts,
               std::string_view activation);
// The chosen experts' biases, weighted and summed: bias [choices embd] -> [tokens embd].
Tensor expert_bias(Tensor ids, Tensor weights, Tensor bias);

// The tokens whose logits are wanted: x [tokens ...], rows [rows] -> [rows ...].
Tensor select_rows(Tensor x, Tensor rows);

}  // namespace tandem::graph
