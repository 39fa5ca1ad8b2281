#include "graph/step.h"

#include <algorithm>
#include <string>

#include "gguf/error.h"

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

void StepInputs::take_rows(std::span<const int32_t> wanted) {
    check(std::is_sorted(wanted.begin(), wanted.end()), "rows ascend");
    rows.assign(wanted.begin(), wanted.end());
    row_positions.clear();
    row_sequences.clear();
    for (const Sequence& sequence : sequences) {
        const int32_t first = int32_t(row_positions.size());
        for (size_t i = size_t(first); i < rows.size(); ++i) {
            if (rows[i] >= sequence.first + sequence.count) break;
            row_positions.push_back(positions[size_t(rows[i])]);
        }
        const int32_t count = int32_t(row_positions.size()) - first;
        if (count > 0)
            row_sequences.push_back({.slot = sequence.slot,
                                     .first = first,
                                     .count = count,
                                     .cached = row_positions[size_t(first)]});
    }
}

void require_tokens(std::span<const int32_t> ids, int64_t vocab) {
    for (int32_t id : ids)
        if (id < 0 || id >= vocab)
            throw Error("token " + std::to_string(id) +
                        " does not exist: the model has tokens 0 to " + std::to_string(vocab - 1));
}

}  // namespace tandem::graph
