#include "graph/step.h"

namespace tandem::graph {

void StepInputs::append(int32_t slot, int32_t cached, std::span<const int32_t> tokens) {
    int32_t count = int32_t(tokens.size());
    sequences.push_back(
        {.slot = slot, .first = int32_t(ids.size()), .count = count, .cached = cached});
    for (int32_t i = 0; i < count; ++i) {
        ids.push_back(tokens[size_t(i)]);
        positions.push_back(cached + i);
    }
}

}  // namespace tandem::graph
