// Types in blocks of 256 spread what belongs to an element over the block: of K-quants, a byte of
// the file holds bits of elements that are 32 or 64 apart, and the low and high bits of an element
// lie far from one another; of codebooks, numbers of points and their signs do. A regrouped block
// has the same bits in the order in which products read them: what belongs to all elements, then
// what belongs to each 32, and their codes. Of codes, b bits of every element take 4 b bytes, of
// which byte k holds elements k, k + 4 b, k + 8 b and so on, the first in its lowest bits.
//
//     Q2_K    d, dmin;                     8 times: scales [2], codes [8]
//     Q3_K    scales [12], d;              8 times: high bits [4], low 2 bits [8]
//     Q4_K    d, dmin, scales [12];        8 times: codes [16]
//     Q5_K    d, dmin, scales [12];        8 times: high bits [4], low 4 bits [16]
//     Q6_K    d;                           8 times: scales [2], high 2 bits [8], low 4 bits [16]
//     IQ1_M   scales and d [8];            8 times: indices [4], their high bits [2]
//     IQ2_XS  d, scales [8];               8 times: indices and signs [8]
//     IQ2_S   d, high bits of indices [8], scales [8];
//                                          8 times: indices [4], signs [4]
//     IQ3_XXS d;                           8 times: indices [8], signs and scale [4]
//     IQ3_S   d, high bits of indices [8], scales [4];
//                                          8 times: indices [8], signs [4]
//
// A processor fetches ahead of what is read in order; where it went back for scales, bits or signs,
// a Zen 4 streamed 0.7 times as much of Q6_K, and half of IQ3_S.
#pragma once

#include <cstddef>

#include "gguf/dtype.h"

namespace tandem::kernels::cpu {

inline constexpr int most_regrouped = 256;  // bytes of a block

bool is_regrouped(gguf::DType dtype);
void regroup(gguf::DType dtype, const std::byte* block, std::byte* to);
// Back to the file's block.
void ungroup(gguf::DType dtype, const std::byte* regrouped, std::byte* block);

}  // namespace tandem::kernels::cpu
