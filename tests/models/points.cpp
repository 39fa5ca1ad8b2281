#include "models/points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tandem::test {

// Cells are products of intervals in which the elements are equally often. They are so many that
// about 128 codes share one.
Points::Points(uint32_t unit, std::vector<float> values) : unit_(unit), values_(std::move(values)) {
    const size_t codes = values_.size() / unit_;
    for (size_t i = 0; i < values_.size(); ++i)
        if (std::abs(values_[i]) > std::abs(values_[extreme_])) extreme_ = uint32_t(i);
    const size_t halvings = size_t(std::clamp(int(std::bit_width(codes)) - 8, 0, 8));
    size_t cells = 1;
    for (size_t k = 0; k < unit_; ++k) {
        std::vector<float> sorted;
        for (size_t i = 0; i < codes; ++i) sorted.push_back(values_[i * unit_ + k]);
        std::sort(sorted.begin(), sorted.end());
        const size_t intervals = size_t(1) << ((halvings + unit_ - 1 - k) / unit_);
        std::vector<float>& bounds = bounds_.emplace_back();
        for (size_t i = 1; i < intervals; ++i)
            bounds.push_back((sorted[(2 * i - 1) * codes / (2 * intervals)] +
                              sorted[(2 * i + 1) * codes / (2 * intervals)]) /
                             2);
        cells *= intervals;
    }
    cells_.resize(cells);
    for (uint32_t i = 0; i < codes; ++i) cells_[cell_of((*this)[i])].codes.push_back(i);
    for (Cell& cell : cells_) {
        if (cell.codes.empty()) {
            cell.codes.resize(codes);
            std::iota(cell.codes.begin(), cell.codes.end(), 0);
        }
        for (size_t k = 0; k < unit_; ++k)
            for (uint32_t code : cell.codes) cell.values.push_back((*this)[code][k]);
    }
}

size_t Points::cell_of(const float* point) const {
    size_t cell = 0;
    for (size_t k = 0; k < unit_; ++k) {
        const auto& bounds = bounds_[k];
        cell = cell * (bounds.size() + 1);
        for (float bound : bounds) cell += point[k] >= bound;
    }
    return cell;
}

uint32_t Points::nearest(const float* target) const {
    const Cell& cell = cells_[cell_of(target)];
    const size_t count = cell.codes.size();
    std::vector<float> errors(count);
    for (size_t k = 0; k < unit_; ++k)
        for (size_t i = 0; i < count; ++i) {
            const float off = cell.values[k * count + i] - target[k];
            errors[i] += off * off;
        }
    return cell.codes[size_t(std::min_element(errors.begin(), errors.end()) - errors.begin())];
}

}  // namespace tandem::test
