// The placed list as one device sees it: what it computes, what it has of every instance, and under
// which other instance's memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/kernel.h"
#include "parallel/placed.h"

namespace tandem::parallel {

// Strides of a value whose elements lie side by side, the last axis fastest.
std::vector<int64_t> dense_strides(const std::vector<int64_t>& extents);

class Local {
  public:
    // `bucket`: the capacity of live extents.
    Local(const Placed& placed, int device, int64_t bucket);

    int device() const { return device_; }
    const Placed& placed() const { return placed_; }

    // True where the device has an operation for the step.
    bool computes(const Compute& compute) const;
    // True where it has some of the instance.
    bool has(int instance) const;
    bool is_activation(int instance) const;
    // The instance whose memory this one has here, views, joins and other names resolved; -1 where
    // the device has none of it.
    int base(int instance) const;
    // Steps of this device that read the memory of a base instance, ascending.
    const std::vector<size_t>& readers(int base) const;
    // Its local range: extents, begins, and the strides it has in memory. Arena offsets count from
    // the base's own place.
    kernels::Operand operand(int instance) const;

  private:
    bool holds_work(const Compute& compute) const;
    void note_alias(const Compute& compute);

    const Placed& placed_;
    const int device_;
    const int64_t bucket_;
    std::map<int, int> aliases_;
    std::map<int, std::vector<size_t>> readers_;
};

}  // namespace tandem::parallel
