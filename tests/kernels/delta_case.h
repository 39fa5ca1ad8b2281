// A model of one delta net, for every kind of device, with log decays of any size.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "kernels/small_model.h"

namespace tandem::test {

// A delta net whose log decays are what `value` says of each token's id.
inline void build_delta_net(SmallModel& model, bool per_channel,
                            const std::function<float(int32_t id)>& value) {
    using gguf::DType;
    Axis heads = model.axis("heads", 2), d = model.axis("d", 37);
    Tensor q = l2_norm(model.activation("q", {heads, d}), 1e-6);
    Tensor k = l2_norm(model.activation("k", {heads, d}), 1e-6);
    Tensor decay = activation_of(model, "decay", per_channel ? Shape{heads, d} : Shape{heads},
                                 [&](int32_t id, size_t) { return value(id); });
    Tensor state = model.graph.state("state", DType::F32, {model.axis("slots", 1), heads, d}, {d});
    model.finish(delta_net(q, k, model.activation("v", {heads, d}), decay,
                           sigmoid(model.activation("beta", {heads})), state));
}

// Log decays that forget all, or almost.
inline const std::vector<float> unusual_decays = {-90, -1e4f, -1e30f, -INFINITY};

}  // namespace tandem::test
