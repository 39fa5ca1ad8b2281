// A cache of keys or values as rows of heads and positions.
#pragma once

#include <utility>

#include "gguf/dtype.h"
#include "graph/op.h"
#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu {

// One cache [slots kv_heads cells | d], or one that all heads share, [slots cells | d].
struct CacheRows {
    graph::View view;
    int64_t heads = 1, cells = 0, row_bytes = 0;

    CacheRows() = default;
    explicit CacheRows(graph::View cache)
        : view(std::move(cache)), row_bytes(gguf::row_bytes(view.dtype, view.extents.back())) {
        cells = view.extents[view.axes.size() - 2];
        if (view.axes.size() == 4) heads = view.extents[1];
    }
    std::byte* row(int64_t slot, int64_t head, int64_t position) const {
        int64_t at = heads == 1 ? slot : slot * heads + head;
        return view.data + (at * cells + position % cells) * row_bytes;
    }
    CacheHead head(int64_t slot, int64_t head) const {
        return {.rows = reinterpret_cast<const uint8_t*>(row(slot, head, 0)),
                .stride = row_bytes,
                .cells = cells,
                .type = int(view.dtype),
                .length = view.extents.back()};
    }
};

}  // namespace tandem::kernels::cpu
