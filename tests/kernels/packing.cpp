// Packed rows are the file's bytes in another order: every row comes back, rows that are not there
// are zeros.
#include "kernels/cpu/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "random.h"

namespace tandem::kernels::cpu {
namespace {

using gguf::DType;

std::vector<float> numbers(DType dtype, const std::vector<std::byte>& row, int64_t columns) {
    std::vector<float> values(static_cast<size_t>(columns));
    gguf::decode_row(dtype, row.data(), values);
    return values;
}

TEST(Packing, loses_nothing) {
    constexpr int64_t columns = 768;
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        for (int lanes : {8, 16}) {
            if (!is_packed(type.dtype, graph::Use::Matrix)) continue;
            const auto bytes = size_t(gguf::row_bytes(type.dtype, columns));
            const std::vector<std::byte> stored = test::Random(1).rows(type.dtype, lanes, columns);
            std::vector<const std::byte*> rows;
            for (int lane = 0; lane < lanes; ++lane)
                rows.push_back(lane == 5 ? nullptr : stored.data() + size_t(lane) * bytes);
            std::vector<std::byte> group(size_t(group_bytes(type.dtype, lanes, columns)));
            pack_group(type.dtype, lanes, columns, rows.data(), group.data());
            std::vector<std::byte> together(bytes * size_t(lanes));
            unpack_rows(type.dtype, lanes, columns, group.data(), 0, lanes, together.data());
            for (int lane = 0; lane < lanes; ++lane) {
                std::vector<std::byte> row(bytes), expected(bytes);
                if (rows[size_t(lane)])
                    expected.assign(rows[size_t(lane)], rows[size_t(lane)] + bytes);
                unpack_rows(type.dtype, lanes, columns, group.data(), lane, lane + 1, row.data());
                EXPECT_EQ(std::memcmp(row.data(), together.data() + size_t(lane) * bytes, bytes), 0)
                    << type.name << " lane " << lane;
                if (type.dtype == DType::TQ1_0) {  // several bytes stand for the same five digits
                    EXPECT_EQ(numbers(type.dtype, row, columns),
                              numbers(type.dtype, expected, columns));
                } else {
                    EXPECT_EQ(row, expected) << type.name << " lane " << lane;
                }
            }
        }
}

// All types that are codes and scales.
TEST(Packing, is_of_every_quantised_type) {
    for (const gguf::DTypeTraits& type : gguf::dtypes()) {
        const bool quantised = type.block > 1 && type.in_files;
        EXPECT_TRUE(!quantised || is_packed(type.dtype, graph::Use::Matrix)) << type.name;
    }
}

}  // namespace
}  // namespace tandem::kernels::cpu
