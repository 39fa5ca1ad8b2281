// How the time of a call grows, for tests that it does not grow too fast.
#pragma once

#include <algorithm>
#include <ctime>

namespace tandem::test {

// Seconds of this process's processors, so that a busy machine does not count; the least of some
// runs, as the others were disturbed.
template <typename Call>
double effort(const Call& call) {
    double least = 1e9;
    for (int run = 0; run < 5; ++run) {
        const std::clock_t start = std::clock();
        call();
        least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
}

}  // namespace tandem::test
