// The part of a file tensor that a device holds of a weight: which stored rows, and which runs of
// blocks of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor.h"
#include "parallel/placement.h"

namespace tandem::parallel {

class Slice {
  public:
    // `data`: the whole file tensor, of which rows over all of the weight's columns are `row_bytes`
    // long.
    Slice(const graph::Value& weight, const Placement& placement, int device,
          std::span<const std::byte> data);

    int64_t rows() const { return rows_; }
    // Bytes of local row `row`: in the file where it is one piece, else assembled in `scratch`.
    const std::byte* row(int64_t row, std::byte* scratch) const;

  private:
    struct Run {
        int64_t offset, bytes;  // within a stored row
    };
    void find_runs(const graph::Value& weight, const std::vector<Range>& columns);

    std::span<const std::byte> data_;
    int64_t first_ = 0;  // file row of local row 0 before ranges
    std::vector<Range> ranges_;
    std::vector<int64_t> strides_;
    int64_t rows_ = 1;
    int64_t row_bytes_ = 0;
    std::vector<Run> runs_;
};

}  // namespace tandem::parallel
