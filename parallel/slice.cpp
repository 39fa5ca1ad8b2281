#include "parallel/slice.h"

#include <cstring>

#include "gguf/error.h"

namespace tandem::parallel {

using graph::Value;

Slice::Slice(const Value& weight, const Placement& placement, int device,
             std::span<const std::byte> data)
    : data_(data), first_(weight.rows.first), strides_(weight.rows.strides) {
    auto range = [&](Axis axis) {
        const Partition* partition = placement.partition;
        return partition ? partition->range(partition->member(device), axis)
                         : Range{0, axis->extent};
    };
    for (Axis axis : weight.row_axes()) {
        ranges_.push_back(range(axis));
        rows_ *= ranges_.back().size();
    }
    std::vector<Range> columns;
    for (Axis axis : weight.column_axes()) columns.push_back(range(axis));
    row_bytes_ = gguf::row_bytes(weight.dtype, elements(weight.column_axes()));
    find_runs(weight, columns);
}

// Runs of elements that are one piece in a stored row, in blocks.
void Slice::find_runs(const Value& weight, const std::vector<Range>& columns) {
    const gguf::DTypeTraits& type = gguf::traits(weight.dtype);
    graph::Shape axes = weight.column_axes();
    // Axes from `whole` on are complete, so the range of the one before is contiguous.
    size_t whole = axes.size();
    int64_t inner = 1;
    while (whole > 0 && columns[whole - 1].size() == axes[whole - 1]->extent)
        inner *= axes[--whole]->extent;
    Range last{0, 1};
    int64_t stride = inner;  // elements of one step of the axis before `whole`
    if (whole > 0) last = columns[--whole];
    std::vector<int64_t> index(whole, 0);
    if (type.row_header > 0) runs_.push_back({0, type.row_header});
    while (true) {
        int64_t at = 0, step = stride * (whole < axes.size() ? axes[whole]->extent : 1);
        for (size_t i = whole; i-- > 0; step *= axes[i]->extent)
            at += (columns[i].begin + index[i]) * step;
        int64_t begin = at + last.begin * stride, count = last.size() * stride;
        check(begin % type.block == 0 && count % type.block == 0,
              "a cut of " + weight.name + " lands on a quantisation block");
        if (count > 0)
            runs_.push_back({type.row_header + begin / type.block * type.block_bytes,
                             count / type.block * type.block_bytes});
        size_t i = whole;
        while (i > 0 && ++index[i - 1] == columns[i - 1].size()) index[--i] = 0;
        if (i == 0) break;
    }
}

const std::byte* Slice::row(int64_t row, std::byte* scratch) const {
    int64_t file_row = first_;
    for (size_t i = ranges_.size(); i-- > 0; row /= ranges_[i].size())
        file_row += (ranges_[i].begin + row % ranges_[i].size()) * strides_[i];
    const std::byte* stored = data_.data() + file_row * row_bytes_;
    if (runs_.size() == 1) return stored + runs_[0].offset;
    std::byte* to = scratch;
    for (const Run& run : runs_) {
        std::memcpy(to, stored + run.offset, size_t(run.bytes));
        to += run.bytes;
    }
    return scratch;
}

}  // namespace tandem::parallel
