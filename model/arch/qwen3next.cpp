// Qwen3-Next (Qwen team 2025): three blocks of four are delta nets; experts in every block.
#include "model/delta_net.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor h) {
    layer.require("ffn_gate_inp_shexp.weight");
    Tensor y = mixture(layer, h, expert_width(layer));
    return add(y, shared_expert(layer, h, shared_expert_width(layer)));
}

void build(Builder& model) { build_hybrid(model, HeadOrder::Grouped, feed_forward); }

}  // namespace

extern const Architecture qwen3next{.name = "qwen3next", .build = build};

}  // namespace tandem::model::arch
