// What becomes of a text whose context is full: it ends, or goes on without its older half.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/options.h"

namespace tandem::cli {

class ContextShift {
  public:
    // --context-shift and --keep; the tokenizer may put a token in front of a prompt, which is
    // always kept.
    ContextShift(const Arguments& arguments, bool adds_bos);

    bool goes_on() const { return goes_on_; }
    // A prompt has so many tokens, of which the first `opening` are kept in any case.
    void begin(int64_t prompt, int64_t opening);
    // What is left of a text that fills its context but for the last token.
    std::vector<int32_t> shifted(std::span<const int32_t> text) const;

  private:
    const bool goes_on_;
    const int64_t wanted_;  // tokens of a prompt to keep, below 0 all
    int64_t kept_ = 0;
};

}  // namespace tandem::cli
