// What every device has to do for one token: bytes that it must read and multiply-adds, whatever
// its kernels make of them.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "parallel/plan.h"

namespace tandem::parallel {

struct Work {
    double bytes = 0;          // of weights, as the file stores them; of experts, those chosen
    double multiply_adds = 0;  // with weights
    // The same for each token that is cached before it.
    double cached_bytes = 0;
    double cached_multiply_adds = 0;
};

// Of a token, and of a row whose logits are wanted.
struct DeviceWork {
    Work body, head;
};

std::vector<DeviceWork> work_of(const graph::Graph& graph, const Plan& plan, size_t devices);

}  // namespace tandem::parallel
