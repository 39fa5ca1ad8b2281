// How the work of attention is divided among workgroups, in the three ways of computing it.
#pragma once

#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

struct AttendBlocks {
    int64_t d, dv, d2, kv_heads, q_per_kv, tokens;  // tokens: as many as the program has room for
    int64_t q_at_once, tokens_at_once, parts, cells_at_once, stride;
    bool joined = false;  // at the end, which a single part may be, too
    bool fits = true;     // into shared memory

    // Of an attend, for any number of tokens.
    explicit AttendBlocks(const Operation& operation);
    int64_t q_blocks() const { return (q_per_kv + q_at_once - 1) / q_at_once; }
    int64_t queries() const { return q_at_once * tokens_at_once; }
    int64_t partial_bytes() const {
        return !joined ? 0 : tokens * kv_heads * q_per_kv * parts * ((dv + 3) / 4 * 4 + 4) * 4;
    }
};

// The work of few tokens, of which a workgroup takes one, and about so many cells at a time.
inline constexpr int cells_of_few = 256;
AttendBlocks blocks_of_few(const Operation& operation);
bool may_be_few(const AttendBlocks& few);                            // on some device,
bool are_few(const Operation& operation, const Features& features);  // on this one
// Elements of a value, by eights.
int64_t value_eights(const Operation& operation);

// The work on matrix units, where blocks are rows of queries, token by token.
AttendBlocks blocks_of_matrices(const Operation& operation);
bool may_be_on_matrices(const AttendBlocks& blocks);
bool are_on_matrices(const Operation& operation, const Features& features);

}  // namespace tandem::kernels::vulkan
