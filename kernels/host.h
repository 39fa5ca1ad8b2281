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
int64_t free_memory();  // that this process could use without swapping
// Of memory that is free, the host's or a GPU's, what devices may have. The rest is for what no
// plan counts: programs and recordings of them, ways into memory, tables of pages, which are 1/512
// of it where pages are small, and whatever other processes come to want. Where nothing is left,
// the system ends one.
int64_t left_of(int64_t free);
std::vector<int> usable_cores();          // that this process may run on
bool has_gpu();                           // or something like it, by what the system shows
void pin_to(std::span<const int> cores);  // the calling thread, where that is allowed
// Asks for memory that is not touched yet in pages of `large_page` bytes, to which it is aligned.
void use_large_pages(std::byte* memory, int64_t bytes);
// Memory that nobody needs now, from the beginning of a page on. What it holds is lost.
void give_back(std::byte* memory, int64_t bytes);
void spin_pause();  // says that the caller waits in a loop

}  // namespace tandem::kernels
