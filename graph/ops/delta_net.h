// The operands of a delta_net node by number, and its heads: several value heads may share a key
// head, in the order in which the axes of v stand.
#pragma once

#include "graph/op.h"

namespace tandem::graph::ops {

enum DeltaOperand : size_t { delta_q, delta_k, delta_v, delta_decay, delta_beta, delta_state };

// Whether each channel of a key has a decay of its own; else a head has one.
inline bool decays_by_channel(const View& decay, const View& v) {
    return decay.axes.size() == v.axes.size();
}

struct DeltaHeads {
    int64_t count = 1;   // value heads
    int64_t keys = 1;    // key heads
    int64_t stride = 1;  // value heads from one key head to the next

    DeltaHeads(const View& q, const View& v);
    int64_t key_of(int64_t head) const { return head / stride % keys; }
};

}  // namespace tandem::graph::ops
