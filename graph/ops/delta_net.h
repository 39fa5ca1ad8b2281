// The heads of a delta_net node: several value heads may share a key head, in the order in which
// the axes of v stand.
#pragma once

#include "graph/op.h"

namespace tandem::graph::ops {

struct DeltaHeads {
    int64_t count = 1;   // value heads
    int64_t keys = 1;    // key heads
    int64_t stride = 1;  // value heads from one key head to the next

    DeltaHeads(const View& q, const View& v);
    int64_t key_of(int64_t head) const { return head / stride % keys; }
};

}  // namespace tandem::graph::ops
