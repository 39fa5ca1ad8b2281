// Tensor data types of GGUF files: block geometry, exact decoding, encoding.
// A row of n elements is n / block blocks, one after another; rows never share blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::gguf {

// The values are the type ids stored in files.
enum class DType : uint32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q8_1 = 9,  // activations only, never in files
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    Q8_K = 15,  // activations only, never in files
    IQ2_XXS = 16,
    IQ2_XS = 17,
    IQ3_XXS = 18,
    IQ1_S = 19,
    IQ4_NL = 20,
    IQ3_S = 21,
    IQ2_S = 22,
    IQ4_XS = 23,
    I8 = 24,
    I16 = 25,
    I32 = 26,
    I64 = 27,
    F64 = 28,
    IQ1_M = 29,
    BF16 = 30,
    TQ1_0 = 34,
    TQ2_0 = 35,
    MXFP4 = 39,
    NVFP4 = 40,
    Q1_0 = 41,
    Q2_0 = 42,
    // Types that one fork of llama.cpp writes; read-only here.
    Q6_0 = 133,
    IQ2_K = 137,
    IQ3_K = 138,
    IQ4_K = 139,
    IQ5_K = 140,
    IQ6_K = 141,
    IQ4_KS = 144,
    IQ2_KS = 145,
    IQ4_KSS = 146,
    IQ5_KS = 152,
    IQ2_KT = 153,
    IQ3_KT = 154,
    IQ4_KT = 155,
    IQ3_KS = 156,
    IQ2_KL = 157,
    IQ1_KT = 158,
};

struct DTypeTraits {
    DType dtype;
    std::string_view name;  // "Q4_K"
    uint32_t block;         // elements per block
    uint32_t block_bytes;   // bytes per block
    // Decodes the blocks of one row, bit for bit as the format defines: `row` starts at the row's
    // header (if it has one) and holds bytes enough for `values`, whose size is a multiple of
    // block.
    void (*decode)(const std::byte* row, std::span<float> values) = nullptr;
    // Encodes a row; null where no encoder exists. `importance` is empty or one weight per value,
    // how much its error counts; most simple types ignore it.
    void (*encode)(std::span<const float> values, std::span<const float> importance,
                   std::byte* row) = nullptr;
    uint32_t row_header = 0;  // bytes in front of the blocks of each row (some fork types)
    bool in_files = true;     // false for activation formats
};

// All known types in the order of their ids.
std::span<const DTypeTraits> dtypes();

const DTypeTraits& traits(DType dtype);
std::optional<DType> dtype_from_id(uint32_t id);
std::optional<DType> dtype_from_name(std::string_view name);  // any case
inline std::string_view name(DType dtype) { return traits(dtype).name; }
// Whether elements are numbers of their own: no blocks share a scale.
inline bool is_plain(DType dtype) { return traits(dtype).block == 1; }

// Bytes of a row of `elements` (a multiple of the block), header included.
int64_t row_bytes(DType dtype, int64_t elements);

void decode_row(DType dtype, const std::byte* row, std::span<float> values);
// Throws Error where the type has no encoder, or an importance is negative or not finite.
void encode_row(DType dtype, std::span<const float> values, std::byte* row,
                std::span<const float> importance = {});

}  // namespace tandem::gguf
