#include "parallel/apportion.h"

#include <algorithm>
#include <limits>

#include "gguf/error.h"

namespace tandem::parallel {

namespace {

// Unit by unit, each to the device that lacks most of its wish. Whatever was carried, nobody has
// more than its share rounded up: the others would wait for it.
std::vector<int64_t> deal(const Cut& cut, const std::vector<double>& wishes,
                          const std::vector<double>& shares) {
    int64_t units = (cut.extent() + cut.grain - 1) / cut.grain;
    std::vector<int64_t> has(shares.size(), 0);
    for (int64_t unit = 0; unit < units; ++unit) {
        size_t next = shares.size();
        double most = -std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < shares.size(); ++i) {
            double lacks = wishes[i] / double(cut.grain) - double(has[i]);
            if (lacks > most && double(has[i]) < shares[i] * double(units) - 1e-9)
                next = i, most = lacks;
        }
        check(next < shares.size(), "the shares add up to 1");
        ++has[next];
    }
    std::vector<int64_t> bounds{0};
    for (int64_t count : has)
        bounds.push_back(std::min(bounds.back() + count * cut.grain, cut.extent()));
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
        cut.inner ? search(cut, wishes, shares) : deal(cut, wishes, shares);
    for (size_t i = 0; i < shares.size(); ++i)
        carry[i] += shares[i] - double(bounds[i + 1] - bounds[i]) / extent;
    return bounds;
}

}  // namespace tandem::parallel
