// Facts about this machine.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::kernels {

int64_t total_memory();
int64_t free_memory();            // that could be used without swapping
std::vector<int> usable_cores();  // that this process may run on

}  // namespace tandem::kernels
