// What the codes of a type mean, as points, and a point near another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::test {

class Points {
  public:
    Points(uint32_t unit, std::vector<float> values);  // values [codes unit]

    const float* operator[](uint32_t code) const { return values_.data() + code * unit_; }
    uint32_t extreme() const { return extreme_; }  // where the element furthest from zero is
    // The nearest, but of many codes only some hundreds are looked at, those of the target's cell.
    uint32_t nearest(const float* target) const;

  private:
    size_t cell_of(const float* point) const;

    size_t unit_;
    std::vector<float> values_;
    uint32_t extreme_ = 0;
    std::vector<std::vector<float>> bounds_;  // between the cells, for each element of a unit
    struct Cell {
        std::vector<uint32_t> codes;
        std::vector<float> values;  // [unit codes]
    };
    std::vector<Cell> cells_;
};

}  // namespace tandem::test
