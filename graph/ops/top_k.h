// What the kernels of top_k share with the reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace tandem::graph::ops {

// What is no number is chosen first, so that it is not lost: where scores are weights, too, the
// result shows it.
inline bool is_better(float score, float than) {
    return std::isnan(score) ? !std::isnan(than) : score > than;
}

// Sets the scores of all but the `kept` best of `count` groups to -infinity. A group with what is
// no number is kept.
void leave_out_groups(std::span<float> scores, int64_t count, int64_t kept);

}  // namespace tandem::graph::ops
