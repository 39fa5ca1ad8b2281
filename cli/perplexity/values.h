// Perplexity on standard output, window after window.
#pragma once

#include <cstdint>

#include "cli/perplexity/score.h"

namespace tandem::cli {

class Values {
  public:
    // `stride` is 0 where windows of that length lie side by side. `lines`: each has one.
    Values(bool lines, int64_t length, int64_t stride)
        : lines_(lines), overlapping_(stride > 0), distance_(stride > 0 ? stride : length) {}
    Values(const Values&) = delete;
    ~Values() { end_line(); }

    void add(int64_t window, const Likelihoods& own);
    // The estimate of all windows; for those that overlap it is the last value.
    void finish();

  private:
    void end_line();

    const bool lines_, overlapping_;
    const int64_t distance_;
    Likelihoods total_;
    bool in_line_ = false;  // has begun, and not ended
};

}  // namespace tandem::cli
