// Packed rows are the file's bytes in another order: every row comes back, rows that are not there
// are zeros.
#include "kernels/cpu/packing.h"

#include <gtest/gtest.h>

#include <vector>

#include "random.h"

namespace tandem::kernels::cpu {
namespace {

using gguf::DType;

TEST(Packing, loses_nothing) {
    constexpr int64_t columns = 768;
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q4_0, DType::Q4_1, DType::Q5_0,
                        DType::Q5_1, DType::Q8_0, DType::MXFP4, DType::Q2_K, DType::Q3_K,
                        DType::Q4_K, DType::Q5_K, DType::Q6_K, DType::IQ4_NL, DType::IQ4_XS})
        for (int lanes : {8, 16}) {
            ASSERT_TRUE(is_packed(dtype, graph::Use::Matrix));
            const auto bytes = size_t(gguf::row_bytes(dtype, columns));
            const std::vector<std::byte> stored = test::Random(1).bytes(int64_t(bytes) * lanes);
            std::vector<const std::byte*> rows;
            for (int lane = 0; lane < lanes; ++lane)
                rows.push_back(lane == 5 ? nullptr : stored.data() + size_t(lane) * bytes);
            std::vector<std::byte> group(size_t(group_bytes(dtype, lanes, columns)));
            pack_group(dtype, lanes, columns, rows.data(), group.data());
            for (int lane = 0; lane < lanes; ++lane) {
                std::vector<std::byte> row(bytes), expected(bytes);
                if (rows[size_t(lane)])
                    expected.assign(rows[size_t(lane)], rows[size_t(lane)] + bytes);
                unpack_row(dtype, lanes, columns, group.data(), lane, row.data());
                EXPECT_EQ(row, expected) << gguf::traits(dtype).name << " lane " << lane;
            }
        }
}

}  // namespace
}  // namespace tandem::kernels::cpu
