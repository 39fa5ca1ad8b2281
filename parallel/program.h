// What one device does for a step: runs of launches and the exchanges between them, in the order of
// the placed list.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/kernel.h"
#include "parallel/placed.h"

namespace tandem::parallel {

struct Segment {
    std::vector<kernels::Launch> launches;
    // Exchanges of the same step whose readers must be done before this run writes to Sending
    // memory that they used.
    std::vector<int> reuses;
};

// A device's part in an exchange. Operands are in the order of the transfers.
struct Meeting {
    int exchange = -1;                       // index of the step in the placed list
    std::vector<kernels::Operand> sends;     // this device's addends or ranges: Sending, dense
    std::vector<kernels::Operand> receives;  // Landing
};

struct Program {
    int device = 0;
    int64_t bucket = 0;  // capacity of its live extents
    std::vector<std::variant<Segment, Meeting>> items;
    // Ends of the memory it uses.
    int64_t arena_bytes = 0, sending_bytes = 0, landing_bytes = 0;
};

}  // namespace tandem::parallel
