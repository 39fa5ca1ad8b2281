// Floating point weights that are numbers of BF16, in 12 bits each: those of BF16, and those of F16
// and F32 whose model was trained in BF16, as most are. The upper byte of a number, its sign and
// seven bits of its exponent, is one of a few in nearly all weights of a model, so that a table of
// 16 makes it a code of 4 bits; the lower byte stays as it is, and the few weights without a code
// are listed. Nothing is lost, and generating text reads three quarters of the bytes, of F32 three
// eighths. (Codes as long as their exponents are rare take less and are slower: T. Zhang et al.,
// 70% Size, 100% Accuracy: Lossless LLM Compression for Efficient GPU Inference via Dynamic-Length
// Float, 2025.)
//
// A group of rows (packing.h) of any floating point type is short or plain, and begins with a head.
// In a stack of matrices the columns of plain ones stand behind all groups, where there is room for
// them when the others are short; else all are plain, with their columns behind their heads.
//
//     plain    [columns][lanes] in the weights' type
//     short    for every 8 columns: codes of the first 4 in low nibbles and of the last 4 in high
//              ones, lower bytes of the first 4, lower bytes of the last 4, each [4 * lanes] in the
//              order of short_place(); then room for the others
#pragma once

#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"

namespace tandem::kernels::cpu {

// In front of a group's weights.
struct FloatHead {
    uint8_t upper[16] = {};  // the byte of each code; that of 0 is 0
    // In bytes from the head: the next group; columns of a plain group, 0 in a short one; others,
    // and how many there are.
    int64_t next = 0, plain_at = 0;
    uint32_t others_at = 0, others = 0;
    uint8_t room[24] = {};

    bool is_short() const { return plain_at == 0; }
};
static_assert(sizeof(FloatHead) == 64);

// A weight without a code, of which the columns have 0.0 instead.
struct OtherWeight {
    uint32_t place = 0;  // column * lanes + lane; they ascend
    float value = 0;
};

inline constexpr int64_t short_columns = 8;  // that stand side by side
// Others take a product of their own each: at most one weight of so many.
inline constexpr int64_t weights_per_other = 512;

// Where a byte of one of 4 columns stands: interleaved with the upper bytes that codes become, each
// 8 of 16 bytes are two columns of four lanes.
constexpr int short_place(int lane, int column) {
    return lane / 4 * 16 + column / 2 * 8 + lane % 4 * 2 + column % 2;
}

// Bytes of so many columns, and of a whole group.
constexpr int64_t short_bytes(int lanes, int64_t columns) {
    return columns / short_columns * 12 * lanes;
}
constexpr int64_t short_group_bytes(int lanes, int64_t columns) {
    const int64_t others = columns * lanes / weights_per_other;
    const int64_t bytes = short_bytes(lanes, columns) + others * int64_t(sizeof(OtherWeight));
    return int64_t(sizeof(FloatHead)) + (bytes + 63) / 64 * 64;
}
constexpr bool can_be_short(int lanes, int64_t columns) {
    return columns % short_columns == 0 && columns * lanes <= INT32_MAX;
}

const FloatHead& head_of(const std::byte* group);
// Makes numbers of a floating point type bf16. False where some are not numbers of BF16.
[[nodiscard]] bool narrow(gguf::DType dtype, const std::byte* numbers, int64_t count,
                          std::byte* bf16);
// Makes a short group of columns in bf16, of 8 or 16 lanes, which can be short. False where their
// weights have no room. Weights that are listed become zeros in the columns.
[[nodiscard]] bool shorten(int lanes, int64_t columns, std::byte* bf16, std::byte* to);
// Row `lane` of a short group.
void lengthen_row(int lanes, int64_t columns, const std::byte* group, int lane, float* row);

}  // namespace tandem::kernels::cpu
