// What the kernels of top_k share with the reference.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::graph::ops {

// Sets the scores of all but the `kept` best of `count` groups to -infinity.
void leave_out_groups(std::span<float> scores, int64_t count, int64_t kept);

}  // namespace tandem::graph::ops
