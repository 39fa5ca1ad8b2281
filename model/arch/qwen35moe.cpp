// Qwen3.5 with experts in every block (Qwen team 2026).
#include "model/delta_net.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor h) {
    layer.require("ffn_gate_inp_shexp.weight");
    Tensor y = mixture(layer, h, expert_width(layer));
    return add(y, shared_expert(layer, h, shared_expert_width(layer)));
}

void build(Builder& model) { build_hybrid(model, HeadOrder::Tiled, feed_forward); }

}  // namespace

extern const Architecture qwen35moe{.name = "qwen35moe", .build = build};

}  // namespace tandem::model::arch
