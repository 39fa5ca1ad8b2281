// Mixtures of experts: a router scores the experts for each token, the best few run.
#pragma once

#include "model/builder.h"

namespace tandem::model {

struct Mixture {
    enum class Scores {
        Softmax,
        Sigmoid,
        SoftmaxOfChosen  // the best logits are chosen first (gpt-oss)
    };
    Scores scores = Scores::Softmax;
    bool renormalise = true;  // the weights of the chosen add up to 1
    double scale = 1;         // of the weights
    graph::ChoiceGroups groups;
    std::string_view activation = "silu";
    Tensor router_input;  // where the router does not see what the experts see (Gemma 4)
};

// What the file's keys say: expert_gating_func (or the fallback without it), expert_weights_norm,
// expert_weights_scale, expert_group_count and expert_group_used_count.
Mixture mixture_of_keys(const Builder& model, Mixture::Scores fallback);

// The width of an expert: expert_feed_forward_length, or without it an equal part of the whole.
int64_t expert_width(const Layer& layer);
// Of the expert that every token has: expert_shared_feed_forward_length.
int64_t shared_expert_width(const Layer& layer);
// Where it stands for several as wide as the others: expert_shared_count of them, or `fallback`
// without the key; 0 where there are none.
int64_t width_of_shared(const Layer& layer, std::optional<int64_t> fallback = {});

// The weighted sum of what the chosen experts make of h. Matrices ffn_{gate,up,down}_exps (gate and
// up in one ffn_gate_up_exps, perhaps), with a `.bias` and a `.scale` for each expert where the
// file has them; a selection bias exp_probs_b moves the choice and not the weights.
Tensor mixture(Layer& layer, Tensor h, int64_t width, const Mixture& how = {});

// An expert that every token has: ffn_{gate,up,down}_shexp. With ffn_gate_inp_shexp its result is
// multiplied by a sigmoid of the token (Qwen).
Tensor shared_expert(Layer& layer, Tensor h, int64_t width);
// Both together, with that sigmoid (Qwen3-Next, Qwen3.5).
Tensor mixture_and_shared_expert(Layer& layer, Tensor h);

}  // namespace tandem::model
