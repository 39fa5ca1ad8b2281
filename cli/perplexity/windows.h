// Evaluates a text in windows of the same length, which may overlap, each from an empty cache,
// several of them in a step and several steps at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/perplexity/score.h"
#include "parallel/executor.h"

namespace tandem::cli {

struct Windows {
    std::span<const int32_t> tokens;
    int64_t length = 512;  // of a window; what is left at the end is not used
    // Tokens from the beginning of one window to that of the next, and as many are predicted, at
    // its end. 0: they lie side by side, and their second halves are predicted.
    int64_t stride = 0;
    int64_t count = 0;
    int32_t first_token = -1;  // takes the place of each window's own; -1: none does
    int64_t slots = 1;         // caches: windows that a step may hold
    int64_t in_flight = 2;     // steps that are submitted before the first is waited for

    int64_t distance() const { return stride > 0 ? stride : length; }
    int64_t predicted() const { return stride > 0 ? stride : length - 1 - length / 2; }
};

// Looks at what the model says of one token: its logits, [vocab], and which token it was. Gives the
// negative log-likelihood of that.
using Look = std::function<double(std::span<const float> logits, int32_t target)>;
// Called with the window's number, in order.
using WindowDone = std::function<void(int64_t window, const Likelihoods& own)>;
// `look` sees all predictions in order, those of a window before it is done. Throws Error, before
// anything is evaluated, where a token does not exist.
void evaluate(parallel::Executor& executor, const Windows& windows, const WindowDone& done,
              const Look& look = negative_log_likelihood);

}  // namespace tandem::cli
