// Which tasks of a set are evaluated, and in what order: as llama-perplexity draws them, so that
// scores of a part can be compared with its own.
#pragma once

#include <cstddef>
#include <vector>

namespace tandem::cli {

// Both draw `count` of the numbers 0 to `total` - 1, by a Mersenne twister of seed 1.

// Each of those left has the same chance, to the last bit; these keep their order.
std::vector<size_t> draw_in_order(size_t total, size_t count);
// The last of those left takes the place of the one that is drawn.
std::vector<size_t> draw_filling_gaps(size_t total, size_t count);

}  // namespace tandem::cli
