// Packs a weight of a file into groups (packing.h), by all members of a team.
#pragma once

#include <atomic>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"
#include "kernels/device.h"

namespace tandem::kernels::cpu {

// To memory of packed_bytes(), of which it returns how many it took: less where weights are
// short (short_bf16.h). `progress` counts bytes of the file; where it turns out late that too many
// groups cannot be short, it goes back, and all are read once more.
int64_t load_packed(const Isa& isa, Team& team, const WeightSource& source, std::byte* to,
                    std::atomic<int64_t>& progress);

}  // namespace tandem::kernels::cpu
