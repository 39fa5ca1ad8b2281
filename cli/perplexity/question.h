// A task in tokens: which of its texts are predicted from where on, and what they have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/perplexity/benchmark.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

struct Candidate {
    std::vector<int32_t> tokens;
    int64_t first = 1, end = 1;  // of the tokens that are predicted, none of which is the first

    bool predicts(int64_t token) const { return first <= token && token < end; }
    int64_t evaluated() const { return end - 1; }  // tokens: the last one is only predicted
};

struct Question {
    std::vector<Candidate> candidates;
    // Tokens at the beginning of all candidates that are evaluated once for all of them.
    int64_t shared = 0;

    int64_t evaluated() const;  // tokens in all
    int64_t context() const;    // tokens of the longest candidate
};

// The tokens behind those that are common to all texts are predicted, and at least one of each
// text. Throws Error, without the place of the task, where a text has a single token.
Question to_question(const Task& task, const model::Tokenizer& tokenizer);

}  // namespace tandem::cli
