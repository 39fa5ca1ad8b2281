// This machine's cores, memory and pages, as the operating system tells of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::kernels {

// The larger of the two sizes of pages that usual systems have.
inline constexpr int64_t large_page = int64_t(1) << 21;

int64_t total_memory();
int64_t free_memory();                    // that this process could use without swapping
std::vector<int> usable_cores();          // that this process may run on
bool has_gpu();                           // or something like it, by what the system shows
void pin_to(std::span<const int> cores);  // the calling thread, where that is allowed
// Asks for memory that is not touched yet in pages of `large_page` bytes, to which it is aligned.
void use_large_pages(std::byte* memory, int64_t bytes);
// Memory that nobody needs now, from the beginning of a page on. What it holds is lost.
void give_back(std::byte* memory, int64_t bytes);
void spin_pause();  // says that the caller waits in a loop

}  // namespace tandem::kernels
