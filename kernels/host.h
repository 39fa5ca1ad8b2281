// This machine: the file of the CPU devices that knows the operating system and the processor.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::kernels {

int64_t total_memory();
int64_t free_memory();            // that could be used without swapping
std::vector<int> usable_cores();  // that this process may run on
bool has_gpu();                   // or something like it, by what the system shows
void pin_to(int core);            // the calling thread, where that is allowed
void spin_pause();                // says that the caller waits in a loop

}  // namespace tandem::kernels
