// Positions that attention is at work on, and what queries see of them.
#pragma once

#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Successive ones, each of which is a cell of a block, or of a part.
struct Positions {
    int64_t begin = 0, count = 0;
};

// Cells [from, to) of those.
struct Cells {
    int64_t from = 0, to = 0;
};

// What query i sees.
inline Cells seen_by(const Attention& a, int64_t i, Positions positions) {
    const int64_t count = positions.count;
    int64_t from = a.first[i] - positions.begin, to = a.last[i] - positions.begin;
    from = from < 0 ? 0 : from < count ? from : count;
    to = to < from ? from : to < count ? to : count;
    return {from, to};
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
