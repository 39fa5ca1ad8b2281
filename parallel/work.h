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
    double float_multiply_adds = 0;  // of these, with weights that are floats
    // Of the bytes, those of experts, and the part of all experts that they are.
    double expert_bytes = 0, expert_share = 1;
    // Of the bytes, those that each sequence has of its own: of recurrent states and windows.
    double sequence_bytes = 0;
    // Of all these, what windows make of them, and so many cells, when they are full.
    struct Windows {
        double cells = 0, bytes = 0, multiply_adds = 0, float_multiply_adds = 0;
    } windows;
    // The same for each token that is cached before it.
    double cached_bytes = 0;
    double cached_multiply_adds = 0;
    double cached_float_multiply_adds = 0;

    Work& operator+=(const Work& other);
    // Bytes of a step of so many tokens: each chooses its experts, and those chosen twice are read
    // once. Experts are expected to be chosen equally often.
    double bytes_of_step(double tokens, double sequences = 1) const;
    // That of the average of `count` tokens, or of one where that is 0, behind `before` others:
    // the first tokens of a sequence find windows that are not full.
    Work behind(double before, double count) const;
};

// Of a token, and of a row whose logits are wanted.
struct DeviceWork {
    Work body, head;
};

// Of one operation for one token, on one device.
Work work_of(const graph::Node& node, const Plan& plan, int device);
std::vector<DeviceWork> work_of(const graph::Graph& graph, const Plan& plan, size_t devices);

}  // namespace tandem::parallel
