// Types in blocks of 256 spread what belongs to an element over the block: of K-quants, a byte of
// the file holds bits of elements that are 32 or 64 apart, and the low and high bits of an element
// lie far from one another; of codebooks, numbers of points and their signs do. A regrouped block
// has the same bits in the order in which products read them: what belongs to all elements, then
// what belongs to each 32, and their codes. Of codes, a few bits of 32 elements stand together
// (join_bits.h).
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
//     IQ2_K   d, moved, scales [8];        8 times: codes [8]
//     IQ3_K   d, moved, signs, scales [8]; 8 times: high bits [4], low 2 bits [8]
//     IQ5_K   d, moved, scales [12];       8 times: high bits [4], low 4 bits [16]
//     IQ6_K   d, moved, scales [16];       8 times: high 2 bits [8], low 4 bits [16]
//     IQ2_KS  R, moved, scales [4];        8 times: codes [8]
//     IQ3_KS  R, moved, scales [4];        8 times: high bits [4], low 2 bits [8]
//     IQ4_KS  R, scales [8];               8 times: codes [16]
//     IQ5_KS  R, scales [8];               8 times: high bits [4], low 4 bits [16]
//     IQ2_KT  R, and the rest as it is
//     IQ3_KT  R, scales [4];               8 times: seeds [8], signs [4]
//
// R is the scale of a whole row, which stands in front of its blocks in the file and in each of
// them here.
//
// A processor fetches ahead of what is read in order; where it went back for scales, bits or signs,
// a Zen 4 streamed 0.7 times as much of Q6_K, and half of IQ3_S.
//
// Where a file's codes are no bits of their own, or in an order that takes long, they are written
// otherwise (recode.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"
#include "kernels/cpu/recode.h"

namespace tandem::kernels::cpu {

inline constexpr int most_regrouped = 256;  // bytes of a block

// What becomes of a type's blocks: of 256 as above, or recoded ones.
class Regrouping {
  public:
    explicit Regrouping(gguf::DType dtype);

    explicit operator bool() const { return blocks_; }  // whether anything does
    // The block-th of a row, which begins with its scale where it has one.
    void regroup(const std::byte* row, int64_t block, std::byte* to) const;
    // Back to the file's block, and to the row's scale.
    void ungroup(const std::byte* regrouped, int64_t block, std::byte* row) const;

  private:
    const gguf::DTypeTraits& type_;
    const Recoding* blocks_;
};

}  // namespace tandem::kernels::cpu
