#include "model/mixture.h"

#include "gguf/error.h"
#include "model/blocks.h"

namespace tandem::model {

namespace {

struct Counts {
    int64_t experts, chosen;
};

Counts counts(const Builder& model) {
    const Hyperparameters& keys = model.keys;
    Counts all{keys.extent("expert_count"), keys.integer("expert_used_count")};
    if (all.chosen < 1 || all.chosen > all.experts)
        throw Error(model.file.path() + ": key " + keys.architecture() + ".expert_used_count is " +
                    std::to_string(all.chosen) + ", expected 1 to " + std::to_string(all.experts) +
                    " (the number of experts)");
    return all;
}

// gate and up, in two tensors or in one in which every expert has its gate rows first.
std::pair<Tensor, Tensor> gate_and_up(Layer& layer, Axis experts, Axis ffn) {
    Axis embd = layer.model.embd;
    if (!layer.has("ffn_gate_up_exps.weight"))
        return {layer.weight("ffn_gate_exps", {experts, ffn}, {embd}),
                layer.weight("ffn_up_exps", {experts, ffn}, {embd})};
    Layout parts({experts}, {Layout({ffn}), Layout({ffn})});
    auto both =
        layer.model.weights(layer.path("ffn_gate_up_exps.weight"), parts, {layer.model.embd});
    return {both[0], both[1]};
}

Tensor optional_vector(Layer& layer, std::string_view name, const Shape& axes) {
    return layer.has(name) ? layer.vector(name, axes) : Tensor();
}

}  // namespace

Mixture mixture_of_keys(const Builder& model, Mixture::Scores fallback) {
    const Hyperparameters& keys = model.keys;
    Mixture how{.scores = fallback, .renormalise = keys.boolean("expert_weights_norm", false)};
    int64_t gating = keys.integer("expert_gating_func", 0);
    if (gating < 0 || gating > 3)
        throw Error(model.file.path() + ": key " + keys.architecture() + ".expert_gating_func is " +
                    std::to_string(gating) +
                    ", known are 1 (softmax), 2 (sigmoid), 3 (softmax of the chosen)");
    if (gating > 0) how.scores = Mixture::Scores(gating - 1);
    double scale = keys.finite("expert_weights_scale", 0);
    if (scale != 0) how.scale = scale;
    int64_t groups = keys.integer("expert_group_count", 0);
    if (groups > 1) how.groups = {groups, keys.integer("expert_group_used_count", groups)};
    auto [experts, chosen] = counts(model);
    if (experts % how.groups.count != 0 || how.groups.kept < 1 ||
        how.groups.kept > how.groups.count || chosen > experts / how.groups.count * how.groups.kept)
        throw Error(model.file.path() + ": " + std::to_string(chosen) + " of " +
                    std::to_string(experts) + " experts cannot be chosen from " +
                    std::to_string(how.groups.kept) + " of " + std::to_string(how.groups.count) +
                    " groups");
    return how;
}

int64_t expert_width(const Layer& layer) {
    const Hyperparameters& keys = layer.model.keys;
    int64_t width = keys.of_layer("expert_feed_forward_length", layer.index, 0);
    if (width > 0) return keys.extent_of_layer("expert_feed_forward_length", layer.index);
    const int64_t all = layer.ffn_width(), chosen = counts(layer.model).chosen;
    if (all < chosen)
        throw Error(layer.model.file.path() + ": key " + keys.architecture() +
                    ".feed_forward_length is " + std::to_string(all) +
                    ", which leaves nothing for each of " + std::to_string(chosen) + " experts");
    return all / chosen;
}

int64_t shared_expert_width(const Layer& layer) {
    const Hyperparameters& keys = layer.model.keys;
    int64_t width = keys.of_layer("expert_shared_feed_forward_length", layer.index, 0);
    return width > 0 ? width : layer.ffn_width();
}

int64_t width_of_shared(const Layer& layer, std::optional<int64_t> fallback) {
    constexpr std::string_view key = "expert_shared_count";
    const Hyperparameters& keys = layer.model.keys;
    const int64_t count = fallback ? keys.integer(key, *fallback) : keys.integer(key);
    const int64_t width = expert_width(layer), most = Hyperparameters::largest_extent / width;
    if (count < 0 || count > most)
        throw Error(layer.model.file.path() + ": key " + keys.architecture() +
                    ".expert_shared_count is " + std::to_string(count) + ", expected 0 to " +
                    std::to_string(most));
    return count * width;
}

Tensor mixture(Layer& layer, Tensor h, int64_t width, const Mixture& how) {
    auto [count, chosen] = counts(layer.model);
    Axis embd = layer.model.embd, experts = layer.axis("experts", count);
    Axis choices = layer.axis("choices", count);  // the router's rows, which are never divided
    Axis ffn = layer.axis("ffn", width);

    // Without a scale: Gemma 4's ffn_gate_inp.scale is none of the product.
    Tensor logits = linear(how.router_input ? how.router_input : h,
                           layer.weight("ffn_gate_inp", {choices}, {embd}));
    if (layer.has("ffn_gate_inp.bias"))
        logits = add(logits, layer.vector("ffn_gate_inp.bias", {choices}));
    Tensor scores = logits;
    if (how.scores == Mixture::Scores::Softmax) scores = softmax(logits);
    if (how.scores == Mixture::Scores::Sigmoid) scores = sigmoid(logits);
    Tensor preferred = scores;
    if (layer.has("exp_probs_b.bias"))
        preferred = add(scores, layer.vector("exp_probs_b.bias", {choices}));
    Tensor ids = top_k(preferred, layer.axis("used", chosen), how.groups);
    Tensor weights = take(scores, ids);
    if (how.scores == Mixture::Scores::SoftmaxOfChosen) weights = softmax(weights);
    if (how.renormalise) weights = normalize(weights);
    if (how.scale != 1) weights = scale(weights, how.scale);

    auto [gate, up] = gate_and_up(layer, experts, ffn);
    graph::Experts all{.gate = gate,
                       .up = up,
                       .down = layer.weight("ffn_down_exps", {experts, embd}, {ffn}),
                       .gate_scale = optional_vector(layer, "ffn_gate_exps.scale", {choices}),
                       .up_scale = optional_vector(layer, "ffn_up_exps.scale", {choices}),
                       .down_scale = optional_vector(layer, "ffn_down_exps.scale", {choices}),
                       .gate_bias = optional_vector(layer, "ffn_gate_exps.bias", {experts, ffn}),
                       .up_bias = optional_vector(layer, "ffn_up_exps.bias", {experts, ffn})};
    Tensor y = moe_ffn(h, ids, weights, all, how.activation);
    // Added to the whole sum, so that it counts once however the experts are divided.
    if (layer.has("ffn_down_exps.bias"))
        y = add(y, expert_bias(ids, weights, layer.vector("ffn_down_exps.bias", {choices, embd})));
    return y;
}

Tensor shared_expert(Layer& layer, Tensor h, int64_t width) {
    Tensor y = gated_ffn(layer, h, layer.axis("shared.ffn", width), "silu", "_shexp");
    if (!layer.has("ffn_gate_inp_shexp.weight")) return y;
    return mul(y, sigmoid(linear(h, layer.weight("ffn_gate_inp_shexp", {}, {layer.model.embd}))));
}

Tensor mixture_and_shared_expert(Layer& layer, Tensor h) {
    layer.require("ffn_gate_inp_shexp.weight");
    Tensor y = mixture(layer, h, expert_width(layer));
    return add(y, shared_expert(layer, h, shared_expert_width(layer)));
}

}  // namespace tandem::model
