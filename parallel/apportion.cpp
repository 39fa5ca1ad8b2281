#include "parallel/apportion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gguf/error.h"

namespace tandem::parallel {

namespace {

// Nearest positions to the running sums of the wishes.
std::vector<int64_t> round_sums(const Cut& cut, const std::vector<double>& wishes,
                                const std::vector<double>& shares) {
    int64_t extent = cut.extent();
    // The last device with a share ends at the extent, whatever was rounded before.
    size_t last = shares.size() - 1;
    while (last > 0 && shares[last] == 0) --last;
    std::vector<int64_t> bounds{0};
    double sum = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
        sum += wishes[i];
        int64_t nearest = int64_t(std::floor(sum / double(cut.grain) + 0.5)) * cut.grain;
        if (shares[i] == 0) nearest = bounds.back();
        if (i >= last) nearest = extent;
        bounds.push_back(std::clamp(nearest, bounds.back(), extent));
    }
    return bounds;
}

// A range over axis x inner is whole units of the axis or lies within one.
bool whole_or_within(const Cut& cut, int64_t begin, int64_t end) {
    int64_t per_unit = cut.inner->extent;
    if (begin == end) return true;
    if (begin % per_unit == 0 && end % per_unit == 0) return true;
    return begin / per_unit == (end - 1) / per_unit;
}

// The legal bounds with the least sum of squared distances to the wishes; few positions, so all are
// tried: best[i][p] is the least sum with which the first i devices end at position p.
std::vector<int64_t> search(const Cut& cut, const std::vector<double>& wishes,
                            const std::vector<double>& shares) {
    constexpr double impossible = std::numeric_limits<double>::infinity();
    std::vector<int64_t> positions;
    for (int64_t at = 0; at < cut.extent(); at += cut.grain) positions.push_back(at);
    positions.push_back(cut.extent());
    size_t devices = shares.size(), count = positions.size();
    std::vector best(devices + 1, std::vector<double>(count, impossible));
    std::vector from(devices + 1, std::vector<size_t>(count, 0));
    best[0][0] = 0;
    for (size_t i = 0; i < devices; ++i)
        for (size_t p = 0; p < count; ++p) {
            if (best[i][p] == impossible) continue;
            for (size_t q = p; q < (shares[i] == 0 ? p + 1 : count); ++q) {
                if (!whole_or_within(cut, positions[p], positions[q])) continue;
                double miss = double(positions[q] - positions[p]) - wishes[i];
                double sum = best[i][p] + miss * miss;
                if (sum < best[i + 1][q]) best[i + 1][q] = sum, from[i + 1][q] = p;
            }
        }
    check(best[devices][count - 1] < impossible, "one device can always have all");
    std::vector<int64_t> bounds(devices + 1);
    for (size_t i = devices, p = count - 1;; p = from[i][p], --i) {
        bounds[i] = positions[p];
        if (i == 0) return bounds;
    }
}

}  // namespace

std::vector<int64_t> apportion(const Cut& cut, const std::vector<double>& shares,
                               std::vector<double>& carry) {
    double extent = double(cut.extent());
    std::vector<double> wishes(shares.size());
    for (size_t i = 0; i < shares.size(); ++i)
        wishes[i] = shares[i] == 0 ? 0 : (shares[i] + carry[i]) * extent;
    std::vector<int64_t> bounds =
        cut.inner ? search(cut, wishes, shares) : round_sums(cut, wishes, shares);
    for (size_t i = 0; i < shares.size(); ++i)
        carry[i] += shares[i] - double(bounds[i + 1] - bounds[i]) / extent;
    return bounds;
}

}  // namespace tandem::parallel
