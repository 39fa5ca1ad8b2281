#include "kernels/vulkan/planes.h"

#include <algorithm>
#include <cstring>

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

using gguf::DType;

namespace {

// Neighbouring fields that a shader reads as one word, or as four, are one field here.
struct Layout {
    DType dtype;
    int fields[5];  // zeros at the end
};

constexpr Layout layouts[] = {
    {DType::F32, {32}},
    {DType::F16, {16}},
    {DType::BF16, {16}},
    {DType::Q4_0, {2, 16}},             // d, codes
    {DType::Q4_1, {4, 16}},             // d and m, codes
    {DType::Q5_0, {2, 4, 16}},          // d, fifth bits, codes
    {DType::Q5_1, {4, 4, 16}},          // d and m, fifth bits, codes
    {DType::Q6_0, {2, 8, 16}},          // d, high bits, codes
    {DType::Q8_0, {2, 32}},             // d, codes
    {DType::MXFP4, {1, 16}},            // e, codes
    {DType::NVFP4, {4, 32}},            // scales, codes
    {DType::Q1_0, {2, 16}},             // d, codes
    {DType::Q2_0, {2, 16}},             // d, codes
    {DType::TQ1_0, {52, 2}},            // codes, d
    {DType::TQ2_0, {64, 2}},            // codes, d
    {DType::IQ4_NL, {2, 16}},           // d, codes
    {DType::IQ4_XS, {8, 128}},          // d and scales, codes
    {DType::Q2_K, {16, 64, 4}},         // scales, codes, d and dmin
    {DType::Q3_K, {32, 64, 12, 2}},     // high bits, codes, scales, d
    {DType::Q4_K, {16, 128}},           // d with dmin and scales, codes
    {DType::Q5_K, {16, 32, 128}},       // d with dmin and scales, fifth bits, codes
    {DType::Q6_K, {128, 64, 16, 2}},    // low bits, high bits, scales, d
    {DType::IQ2_XXS, {2, 64}},          // d, indices with signs and scales
    {DType::IQ2_XS, {2, 64, 8}},        // d, indices with signs, scales
    {DType::IQ2_S, {2, 32, 32, 8, 8}},  // d, indices, signs, high bits, scales
    {DType::IQ3_XXS, {2, 64, 32}},      // d, indices, signs and scales
    {DType::IQ3_S, {2, 64, 8, 32, 4}},  // d, indices, high bits, signs, scales
    {DType::IQ1_S, {2, 32, 16}},        // d, indices, high bits and scales
    {DType::IQ1_M, {32, 16, 8}},        // indices, high bits, scales with d
    {DType::IQ2_K, {4, 8, 64}},         // d and shifts, scales, codes
    {DType::IQ3_K, {4, 2, 8, 64, 32}},  // d and shifts, signs of scales, scales, codes, high bits
    {DType::IQ4_K, {16, 128}},          // d with shifts and scales, codes
    {DType::IQ5_K, {16, 128, 32}},      // d with shifts and scales, codes, fifth bits
    {DType::IQ6_K, {4, 16, 128, 64}},   // d and shifts, scales, codes, high bits
    {DType::IQ2_KS, {2, 4, 64}},        // shifts and fifth bits of scales, scales, codes
    {DType::IQ2_KL, {2, 4, 64, 16}},    // high bits of scales, scales, codes, fifth bits
    {DType::IQ3_KS, {2, 4, 64, 32}},    // fifth bits of scales and shifts, scales, codes, high bits
    {DType::IQ4_KS, {8, 128}},          // scales, codes
    {DType::IQ4_KSS, {128}},            // codes with scales
    {DType::IQ5_KS, {8, 128, 32}},      // scales, codes, fifth bits
    {DType::IQ1_KT, {8, 32, 16}},       // scales, codes, high bits
    {DType::IQ2_KT, {4, 64}},           // scales, codes
    {DType::IQ3_KT, {4, 64, 32}},       // scales, codes, signs
    {DType::IQ4_KT, {32, 64, 32}},      // scales with high bits, codes, middle bits
};

int64_t padded(int64_t bytes) { return (bytes + 15) / 16 * 16; }

int64_t blocks_of(const Planes& planes, int64_t columns) {
    return (columns + planes.block - 1) / planes.block;
}

// `bytes` of every `stride` bytes, one after another. A constant count of bytes is a move or two.
template <int bytes>
void gather(const std::byte* from, int64_t stride, int64_t count, std::byte* to) {
    for (int64_t i = 0; i < count; i++) std::memcpy(to + i * bytes, from + i * stride, bytes);
}

void gather(int bytes, const std::byte* from, int64_t stride, int64_t count, std::byte* to) {
    switch (bytes) {
        case 1:
            return gather<1>(from, stride, count, to);
        case 2:
            return gather<2>(from, stride, count, to);
        case 4:
            return gather<4>(from, stride, count, to);
        case 8:
            return gather<8>(from, stride, count, to);
        case 12:
            return gather<12>(from, stride, count, to);
        case 16:
            return gather<16>(from, stride, count, to);
        case 32:
            return gather<32>(from, stride, count, to);
        case 52:
            return gather<52>(from, stride, count, to);
        case 64:
            return gather<64>(from, stride, count, to);
        case 128:
            return gather<128>(from, stride, count, to);
        default:
            check(false, "a field has one of the sizes that formats use");
    }
}

// Where a plane of `bytes` ends, after zeros.
std::byte* end_plane(std::byte* plane, int64_t bytes) {
    std::memset(plane + bytes, 0, size_t(padded(bytes) - bytes));
    return plane + padded(bytes);
}

}  // namespace

DType held_as(DType dtype) {
    switch (dtype) {
        case DType::I8:
        case DType::I16:
        case DType::I32:
        case DType::I64:
        case DType::F64:
            return DType::F32;
        default:
            return dtype;
    }
}

Planes planes_of(DType dtype) {
    dtype = held_as(dtype);
    const auto* layout = std::ranges::find(layouts, dtype, &Layout::dtype);
    check(layout != std::end(layouts), "only types that files hold have planes");
    const auto fields = size_t(std::ranges::find(layout->fields, 0) - layout->fields);
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    return {.block = type.block == 1 ? 8 : int(type.block),
            .header = int(type.row_header),
            .fields = {layout->fields, fields}};
}

int64_t plane_row_bytes(DType dtype, int64_t columns) {
    const Planes planes = planes_of(dtype);
    int64_t bytes = padded(planes.header);
    for (const int field : planes.fields) bytes += padded(blocks_of(planes, columns) * field);
    return bytes;
}

void to_planes(DType dtype, int64_t columns, const std::byte* row, std::byte* planes) {
    const Planes layout = planes_of(dtype);
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    if (type.block == 1) {
        const int64_t bytes = columns * gguf::traits(held_as(dtype)).block_bytes;
        if (held_as(dtype) == dtype)
            std::memcpy(planes, row, size_t(bytes));
        else
            gguf::decode_row(dtype, row, {reinterpret_cast<float*>(planes), size_t(columns)});
        std::memset(planes + bytes, 0, size_t(plane_row_bytes(dtype, columns) - bytes));
        return;
    }
    check(columns % layout.block == 0, "a row is a multiple of its type's block");
    const int64_t blocks = columns / layout.block;
    if (layout.header > 0) {
        std::memcpy(planes, row, size_t(layout.header));
        planes = end_plane(planes, layout.header);
        row += layout.header;
    }
    for (const int field : layout.fields) {
        gather(field, row, type.block_bytes, blocks, planes);
        planes = end_plane(planes, blocks * field);
        row += field;
    }
}

void from_planes(DType dtype, int64_t columns, const std::byte* planes, std::byte* row) {
    const Planes layout = planes_of(dtype);
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    check(held_as(dtype) == dtype, "the type is held as it is");
    if (type.block == 1) {
        std::memcpy(row, planes, size_t(columns * type.block_bytes));
        return;
    }
    const int64_t blocks = columns / layout.block;
    std::memcpy(row, planes, size_t(layout.header));
    planes += padded(layout.header);
    row += layout.header;
    for (const int field : layout.fields) {
        for (int64_t i = 0; i < blocks; ++i)
            std::memcpy(row + i * type.block_bytes, planes + i * field, size_t(field));
        planes += padded(blocks * field);
        row += field;
    }
}

}  // namespace tandem::kernels::vulkan
