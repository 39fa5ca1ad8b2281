// How members divide rows of which columns do not depend on one another: by whole rows, or by
// blocks of columns where there are fewer rows than members. One token is the common case.
#pragma once

#include <algorithm>

#include "kernels/cpu/team.h"

namespace tandem::kernels::cpu::ops {

// Calls visit(row, columns) for the worker's part of the rows of `tokens` tokens, `each` of every
// token, that are `length` long. Rows of given tokens are whole. Blocks begin at multiples of 256.
template <typename Visit>
void each_row_part(int64_t tokens, int64_t each, int64_t length, const Worker& worker,
                   Visit visit) {
    constexpr int64_t block = 256;
    const bool whole = worker.only || tokens * each >= worker.count;
    const int64_t blocks = whole ? 1 : (length + block - 1) / block;
    const Range own =
        whole ? worker.share_rows(tokens, each) : worker.share(tokens * each * blocks);
    for (int64_t at = own.first; at < own.last;) {
        const int64_t row = at / blocks, begin = row * blocks;
        const int64_t end = std::min(own.last, begin + blocks);
        visit(row,
              Range{(at - begin) * block, end == begin + blocks ? length : (end - begin) * block});
        at = end;
    }
}

}  // namespace tandem::kernels::cpu::ops
