// Places values in one block of memory so that those which live at the same time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::parallel {

struct Lifetime {
    int first = 0, last = 0;  // positions in a program, both included
    int64_t bytes = 0;
    int64_t offset = 0;  // the result, a multiple of 64
};

inline constexpr int64_t memory_alignment = 64;

inline int64_t aligned(int64_t bytes) {
    return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

// Sets the offsets, from `base` on; gives the end of the last one.
int64_t place(std::vector<Lifetime>& values, int64_t base = 0);

}  // namespace tandem::parallel
