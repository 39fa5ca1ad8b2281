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

// x / sqrt(mean(x^2) + epsilon) * weight over the last axes, which are those of the weight.
Tensor rms_norm(Tensor x, Tensor weight, double epsilon);

// Rotary position embedding of the last axis; see graph/rope.h for the parameters.
struct Rope;
Tensor rope(Tensor x, Tensor positions, const Rope& parameters, Tensor frequency_factors = {});

// Causal attention with a cache. q [tokens kv_heads q_per_kv d], k [tokens kv_heads d],
// v [tokens kv_heads dv], caches [slots kv_heads cells | d] -> [tokens kv_heads q_per_kv dv].
// Writes k and v to the cells of the tokens' positions, then reads all cells up to each token's
// own.
struct Cache {
    Tensor k, v;
};
Tensor attend(Tensor q, Tensor k, Tensor v, Cache cache, double scale);

// Over the last axis.
Tensor softmax(Tensor x);
// x / max(sum(x), 2^-14) over the last axis.
Tensor normalize(Tensor x);
// Indices of the largest `used` elements of the last axis, best first: [... choices] -> [... used].
Tensor top_k(Tensor scores, Axis used);
// Elements of the last axis by index: scores [... choices], ids [... used] -> [... used].
Tensor take(Tensor scores, Tensor ids);

// The chosen experts' feed-forward networks, weighted and summed: x [tokens embd],
// ids and weights [tokens used], gate and up [experts ffn | embd], down [experts embd | ffn].
// Each of the three may have scales [choices], one per expert, that multiply its products; choices
// has the extent of experts, but every device needs all of them.
struct ExpertScales {
    Tensor gate, up, down;
};
Tensor moe_ffn(Tensor x, Tensor ids, Tensor weights, Tensor gate, Tensor up, Tensor down,
               std::string_view activation, ExpertScales scales = {});

// The tokens whose logits are wanted: x [tokens ...], rows [rows] -> [rows ...].
Tensor select_rows(Tensor x, Tensor rows);

}  // namespace tandem::graph
