// Turns shares into bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/part.h"

namespace tandem::parallel {

// Bounds (shares.size() + 1, from 0 to cut.extent(), at multiples of the cut's grain) that come
// closest to the shares, which add up to 1. A share of 0 stays empty. `carry` (one per share, all 0
// at the start) holds what earlier calls rounded away, as fractions, so that the ratio is met over
// all layers together: an axis of one unit goes to one device after the other.
std::vector<int64_t> apportion(const Cut& cut, const std::vector<double>& shares,
                               std::vector<double>& carry);

}  // namespace tandem::parallel
