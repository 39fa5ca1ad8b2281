// A number that grows, and threads that wait for it: the only way in which the threads of a run
// meet.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::parallel {

// Thrown by waits after poison(); the error itself is with the one who poisoned.
struct Poisoned {};

// Each has a line of the cache of its own, so that those who wait for one do not hinder another.
class alignas(64) Counter {
  public:
    void advance(uint32_t value) {
        value_.store(value, std::memory_order_release);
        value_.notify_all();
    }

    bool reached(uint32_t target) const {
        return int32_t(value_.load(std::memory_order_acquire) - target) >= 0;
    }
    // Returns when the number has reached `target`. Spins for a while first, unless threads share
    // cores, where whoever is waited for would lose the time.
    void wait(uint32_t target, bool spin, const std::atomic<bool>& poisoned) const;

    // Wakes all waiters, so that they see that the run is poisoned. However often it is called, the
    // value does not come back to what one of them saw.
    void wake() {
        value_.fetch_add((1u << 30) + 1);
        value_.notify_all();
    }

  private:
    std::atomic<uint32_t> value_ = 0;
};

}  // namespace tandem::parallel
