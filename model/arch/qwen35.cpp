// Qwen3.5, dense (Qwen team 2026): three blocks of four are delta nets. For text its rotary
// embedding over several dimensions is the plain one.
#include "model/blocks.h"
#include "model/delta_net.h"

namespace tandem::model::arch {

namespace {

Tensor feed_forward(Layer& layer, Tensor h) {
    return dense_ffn(layer, h, layer.ffn_width(), "silu");
}

void build(Builder& model) { build_hybrid(model, HeadOrder::Tiled, feed_forward); }

}  // namespace

extern const Architecture qwen35{.name = "qwen35", .build = build};

}  // namespace tandem::model::arch
