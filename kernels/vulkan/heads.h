// Heads of queries, keys and values on their way to attention: rows that are normed and turned
// where their architecture says so, and put where attention reads them.
#pragma once

#include <array>

#include "graph/ops/attend.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// What is done to an operand of attend before; either may be left out.
struct Way {
    const Operation* norm = nullptr;
    const Operation* rope = nullptr;

    explicit operator bool() const { return norm || rope; }
    // The operand as it comes, if it comes to attend as `last`.
    const Operand& first(const Operand& last) const {
        return norm ? norm->inputs[0] : rope ? rope->inputs[0] : last;
    }
};

// An attend behind the norms and rotations that are for it alone.
struct AttendChain {
    size_t length = 0;  // operations, of which attend is the last; 0: there is none
    std::array<Way, graph::ops::operands> ways;  // by operand of attend
};
AttendChain attend_chain(std::span<const Operation> ahead);

// Puts the rows of `x` that have come the way into `y`, one after another in f32.
Dispatch to_rows(const Operand& x, const Way& way, Address y, const Site& site);
// Puts them into the cells of their tokens' positions: x [tokens heads d], cache [slots heads cells
// | d], or both without heads.
Dispatch to_cells(const Operand& x, const Way& way, const Operand& cache, const Site& site);

// Cells of a cache [slots heads cells | d] or [slots cells | d].
uint32_t cells_of(const graph::View& cache);

}  // namespace tandem::kernels::vulkan
