#include "cli/perplexity/draw.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr uint32_t seed = 1;

std::vector<size_t> numbers_to(size_t total, size_t count) {
    check(count <= total && total <= UINT32_MAX, "only as many are drawn as there are");
    std::vector<size_t> numbers(total);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

// Below `bound`, by multiplication (Lemire 2019, "Fast random integer generation in an interval"):
// what the standard leaves open for its distribution, and libstdc++ does.
uint32_t uniform(std::mt19937& random, uint32_t bound) {
    const uint32_t too_few = (0u - bound) % bound;  // of the 2^32 that do not divide evenly
    uint64_t product = 0;
    do product = uint64_t(random()) * bound;
    while (uint32_t(product) < too_few);
    return uint32_t(product >> 32);
}

}  // namespace

std::vector<size_t> draw_in_order(size_t total, size_t count) {
    std::vector<size_t> left = numbers_to(total, count), drawn;
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i) {
        const auto at = left.begin() + uniform(random, uint32_t(left.size()));
        drawn.push_back(*at);
        left.erase(at);
    }
    return drawn;
}

std::vector<size_t> draw_filling_gaps(size_t total, size_t count) {
    std::vector<size_t> left = numbers_to(total, count), drawn;
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i) {
        // In floats, whose rounding decides now and then; it must not lead past the end.
        const float share = float(random()) * 0x1p-32f;
        const size_t at = std::min(size_t(share * float(left.size())), left.size() - 1);
        drawn.push_back(left[at]);
        left[at] = left.back();
        left.pop_back();
    }
    return drawn;
}

}  // namespace tandem::cli
