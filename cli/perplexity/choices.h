// Evaluates questions: how likely a model finds each of their candidates. Several questions are in
// a step, each with a cache of its own, and several steps on their way. What the candidates of a
// question have in common is evaluated once: the others go on behind it, over what the one before
// them left.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/perplexity/question.h"
#include "parallel/executor.h"

namespace tandem::cli {

// Nothing is shared any more where states cannot return to it: recurrent ones, and windows that are
// shorter than a candidate.
void share_what_stays(const graph::Graph& graph, std::span<Question> questions);

struct Questions {
    std::span<const Question> all;
    int64_t slots = 1;      // caches: questions that are evaluated together
    int64_t in_flight = 2;  // steps that are submitted before the first is waited for
};

// Called in the order of the questions, with the mean log-probabilities of what is predicted of
// each candidate; and how many tokens are evaluated, of this question and others.
using QuestionDone =
    std::function<void(size_t question, const std::vector<double>& scores, int64_t evaluated)>;
// Throws Error, before anything is evaluated, where a token does not exist.
void evaluate(parallel::Executor& executor, const Questions& questions, const QuestionDone& done);

}  // namespace tandem::cli
