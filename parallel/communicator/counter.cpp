#include "parallel/communicator/counter.h"

#include <chrono>
#include <thread>

namespace tandem::parallel {

namespace {

// Longer than the usual difference between devices that share a layer, shorter than a time slice.
constexpr auto spin_time = std::chrono::microseconds(200);

}  // namespace

void Counter::wait(uint32_t target, bool spin, const std::atomic<bool>& poisoned) const {
    auto reached = [&](uint32_t value) { return int32_t(value - target) >= 0; };
    auto look = [&] {
        uint32_t value = value_.load(std::memory_order_acquire);
        if (poisoned.load(std::memory_order_acquire)) throw Poisoned{};
        return value;
    };
    uint32_t value = look();
    if (spin && !reached(value)) {
        auto until = std::chrono::steady_clock::now() + spin_time;
        do {
            for (int i = 0; i < 64 && !reached(value); ++i) value = look();
        } while (!reached(value) && std::chrono::steady_clock::now() < until);
    }
    while (!reached(value)) {
        value_.wait(value, std::memory_order_acquire);
        value = look();
    }
}

}  // namespace tandem::parallel
