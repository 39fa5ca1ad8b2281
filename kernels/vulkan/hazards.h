// Which launches must wait for which: those that touch memory which an earlier one wrote, or write
// what it read. Everything else may run side by side, and in any order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace tandem::kernels::vulkan {

// The launches, by their numbers, in waves. Those of a wave run side by side; a wave waits for all
// before it. Each launch is in the first wave in which it can be.
std::vector<std::vector<size_t>> waves_of(std::span<const Launch> launches);

}  // namespace tandem::kernels::vulkan
