// What changes from step to step: everything else (graph, plan, programs) is made once per model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::graph {

// Tokens of one sequence that a step evaluates. They stand together in the step, in order.
struct Sequence {
    int32_t slot = 0;    // which of the model's caches
    int32_t first = 0;   // index of its first token in the step
    int32_t count = 0;   // tokens in this step
    int32_t cached = 0;  // tokens of the sequence that the cache holds already

    bool operator==(const Sequence&) const = default;
};

// Where tokens stand.
struct Standing {
    std::span<const int32_t> positions;
    std::span<const Sequence> sequences;
};

struct StepInputs {
    std::vector<int32_t> ids;         // [tokens]
    std::vector<int32_t> positions;   // [tokens] absolute, 0-based
    std::vector<Sequence> sequences;  // disjoint slots
    std::vector<int32_t> rows;        // indices of the tokens whose logits are wanted, ascending
    // The rows as if they were the step's tokens: what of a sequence lies before the first one
    // counts as cached, what lies between them is left out. take_rows() makes them.
    std::vector<int32_t> row_positions;
    std::vector<Sequence> row_sequences;

    bool operator==(const StepInputs&) const = default;
    int64_t tokens() const { return int64_t(ids.size()); }
    // Appends tokens of one sequence; `cached` tokens of it were evaluated before.
    void append(int32_t slot, int32_t cached, std::span<const int32_t> tokens);
    // Makes these the rows.
    void take_rows(std::span<const int32_t> wanted);
    Standing of_tokens() const { return {positions, sequences}; }
    Standing of_rows() const { return {row_positions, row_sequences}; }
};

// Throws Error where one of the ids is no token of a model that has `vocab` of them.
void require_tokens(std::span<const int32_t> ids, int64_t vocab);

}  // namespace tandem::graph
