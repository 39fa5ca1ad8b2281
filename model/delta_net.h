// Layers of linear attention by a gated delta rule (Yang et al. 2024), and the attention with an
// output gate that stands between them (Qwen3-Next, Qwen3.5).
#pragma once

#include "model/builder.h"

namespace tandem::model {

// In which order a file has the value heads of a key head.
enum class HeadOrder {
    Grouped,  // those of one key head together
    Tiled     // the first of every key head, then the second of every one
};

// A model of delta nets and gated attention by turns, each with a feed-forward network behind it.
void build_hybrid(Builder& model, HeadOrder order, Tensor (*feed_forward)(Layer& layer, Tensor h));

// silu of the causal convolution of x [tokens channels...] with the part `kernel` of a kernel
// tensor [channels... taps]; `name` is that of its state.
Tensor convolved(Layer& layer, Tensor x, Tensor kernel, std::string_view name);
// The state of a delta net over `heads`, [slots heads... dv | d].
Tensor delta_state(Layer& layer, const Shape& heads, Axis dv, Axis d);

}  // namespace tandem::model
