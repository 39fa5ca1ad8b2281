// The products of references: rounded once, at the end.
#pragma once

#include <cstddef>
#include <span>

namespace tandem::graph::ops {

// Of vectors of one length. In several sums, so that no addition waits for the one before.
inline double dot(std::span<const float> a, std::span<const float> b) {
    constexpr size_t sums_at_once = 8;
    double sums[sums_at_once] = {};
    size_t i = 0;
    for (; i + sums_at_once <= a.size(); i += sums_at_once)
        for (size_t j = 0; j < sums_at_once; ++j) sums[j] += double(a[i + j]) * b[i + j];
    double sum = 0;
    for (; i < a.size(); ++i) sum += double(a[i]) * b[i];
    for (double addend : sums) sum += addend;
    return sum;
}

}  // namespace tandem::graph::ops
