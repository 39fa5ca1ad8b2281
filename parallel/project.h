// The projection of the placed list on one device: its own operations, the kernels that run them,
// and where every value lies.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "parallel/placed.h"
#include "parallel/program.h"

namespace tandem::parallel {

enum class Stage { Body, Head };

// Where memory of a device begins that a program may use, and where the values lie that the body
// leaves for the head.
struct Memory {
    int64_t arena = 0, sending = 0, landing = 0;
    std::map<int, kernels::Operand> kept;  // by instance
};

// `bucket` bounds the tokens of the body, the rows of the head. `kernels` and `copy` are the
// device's; without them (a device that only a table knows) every operation is a launch of its own,
// and launches have no kernel.
// The values that cross from the body to the head are looked up in `memory.kept`.
Program project(const Placed& placed, int device, Stage stage, int64_t bucket,
                std::span<const kernels::Kernel> kernels, const kernels::Kernel* copy,
                const Memory& memory);

// Gives room, for the largest body bucket, to the values that cross from the body to the head.
Memory keep_crossing_values(const Placed& placed, int device, int64_t largest_bucket);

// All programs of one device, which share its memory: those of the body by capacity in tokens,
// those of the head by capacity in rows.
struct Programs {
    std::vector<Program> body, head;  // capacities ascend
    int64_t arena_bytes = 0, sending_bytes = 0, landing_bytes = 0;
};
inline constexpr int64_t head_rows = 64;  // the most rows of a head's run
Programs make_programs(const Placed& placed, int device, int64_t most_tokens,
                       std::span<const kernels::Kernel> kernels, const kernels::Kernel* copy);
// The number of the first that has room.
size_t fitting(const std::vector<Program>& programs, int64_t count);

}  // namespace tandem::parallel
