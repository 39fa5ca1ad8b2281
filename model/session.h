// One sequence of tokens on an engine: knows how many the cache holds, and evaluates what comes
// behind them. A prompt goes in steps of the largest size, all submitted before the last one is
// waited for, so that devices that have a part of the layers each can work on several at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/step.h"

namespace tandem::model {

// Called with the index of the first row of a block and the block's logits, [rows vocab], which
// stay until the next block.
using Rows = std::function<void(int64_t first, std::span<const float> logits)>;

// The engine: step(inputs) gives logits, in two halves. Steps are waited for in the order in which
// they were submitted.
struct Stepper {
    std::function<uint64_t(graph::StepInputs)> submit;
    std::function<void(uint64_t ticket, const Rows& rows)> wait;
    std::function<void(int64_t tokens)> done = {};  // hears of every step that has ended
    int64_t most_tokens = 0;                        // of a step
    int64_t context = 0;                            // tokens that a sequence may have
    int64_t vocab = 0;
};

class Session {
  public:
    // `position`: tokens that the cache holds already.
    explicit Session(Stepper stepper, int64_t position = 0)
        : stepper_(std::move(stepper)), position_(position) {}

    int64_t position() const { return position_; }  // tokens that the cache holds
    int64_t left() const { return stepper_.context - position_; }

    // Evaluates tokens behind those that came before and gives the logits of the last, [vocab],
    // which stay until the next call. Throws Error, before anything is evaluated, where the context
    // has no room for them or a token does not exist.
    std::span<const float> evaluate(std::span<const int32_t> tokens);
    std::span<const float> logits() const { return logits_; }  // of the last such call
    // The same with the logits of all of them.
    void evaluate(std::span<const int32_t> tokens, const Rows& rows);

  private:
    enum class Wanted { Last, All };
    void evaluate(std::span<const int32_t> tokens, Wanted wanted, const Rows& rows);

    Stepper stepper_;
    int64_t position_;
    std::span<const float> logits_;
};

}  // namespace tandem::model
