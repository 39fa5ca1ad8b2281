// Adds up where a worker's time goes, if anybody wants to know: without laps it does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace tandem::kernels::cpu {

class Stopwatch {
  public:
    explicit Stopwatch(std::vector<int64_t>* laps) : laps_(laps) {
        if (laps_) last_ = Clock::now();
    }
    // The time since the last lap belongs to this number.
    void lap(size_t number) {
        if (!laps_) return;
        const auto now = Clock::now();
        (*laps_)[number] +=
            std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count();
        last_ = now;
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::vector<int64_t>* laps_;
    Clock::time_point last_;
};

}  // namespace tandem::kernels::cpu
