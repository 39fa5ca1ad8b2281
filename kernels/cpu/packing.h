// How the CPU keeps matrices: groups of `lanes` rows, interleaved so that one vector load brings
// the same few bytes of every row. Nothing is lost: a packed row can be unpacked to the file's
// bytes (of TQ1_0, to bytes of the same numbers). Groups of floating point types begin with a head,
// and may be in 12 bits an element (short_bf16.h).
//
// Within a group, blocks follow one another; within a block, the fields of the type, which are
// those of the file, or in another order (regroup.h) or as other codes (recode.h); within a field,
// units of 1, 2 or 4 bytes, for each of which the rows stand side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"
#include "graph/tensor.h"

namespace tandem::kernels::cpu {

// True for the types that have matrix kernels, where they are used as matrices. Everything else is
// kept as the file has it (vectors as f32).
bool is_packed(gguf::DType dtype, graph::Use use);

// Bytes of one group, and of a stack of matrices. The last group of each is filled up with zeros.
int64_t group_bytes(gguf::DType dtype, int lanes, int64_t columns);
// From one packed group to the next, of which this is the first: short ones are nearer.
int64_t group_bytes(gguf::DType dtype, int lanes, int64_t columns, const std::byte* first);
int64_t packed_bytes(gguf::DType dtype, int lanes, int64_t matrices, int64_t rows, int64_t columns);

// Packs up to `lanes` rows; null stands for a row of zeros.
void pack_group(gguf::DType dtype, int lanes, int64_t columns, const std::byte* const* rows,
                std::byte* group);
// Begins a group of a floating point type; returns where its columns go, [columns][lanes].
std::byte* begin_plain(gguf::DType dtype, int lanes, int64_t columns, std::byte* group);
// The bytes of rows [first, last) of a group that is not short as the file has them, one row after
// another.
void unpack_rows(gguf::DType dtype, int lanes, int64_t columns, const std::byte* group, int first,
                 int last, std::byte* rows);
// Rows [first, last) of any group in f32, one after another. `room` is for their bytes.
void decode_rows(gguf::DType dtype, int lanes, int64_t columns, const std::byte* group, int first,
                 int last, std::byte* room, float* rows);

}  // namespace tandem::kernels::cpu
