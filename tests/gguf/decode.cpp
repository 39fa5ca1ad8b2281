// Every decoder, bit for bit against the vectors of its type.
#include <gtest/gtest.h>

#include <bit>

#include "gguf/dtype.h"
#include "gguf/error.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::bytes_of_hex;
using test::floats;

// The types whose vectors are blocks; F16 and BF16 have vectors of single numbers.
std::vector<DType> block_types() {
    std::vector<DType> types;
    for (const DTypeTraits& type : dtypes()) {
        if (type.block > 1) types.push_back(type.dtype);
    }
    return types;
}

void expect_same_bits(std::span<const float> found, std::span<const float> expected,
                      const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (size_t i = 0; i < found.size(); i++) {
        ASSERT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>(expected[i]))
            << what << ", element " << i << ": " << found[i] << ", expected " << expected[i];
    }
}

class Decode : public testing::TestWithParam<DType> {};

TEST_P(Decode, vectors) {
    const DTypeTraits& type = traits(GetParam());
    const auto json = test::vectors("quant/" + std::string(type.name) + ".json");
    EXPECT_EQ(json["id"], uint32_t(type.dtype));
    EXPECT_EQ(json["block_elems"], type.block);
    EXPECT_EQ(json["block_bytes"], type.block_bytes);
    EXPECT_EQ(json.value("row_header_bytes", 0u), type.row_header);

    // Blocks under one header are decoded alone and as one row.
    std::vector<std::byte> row;
    std::vector<float> row_values;
    for (const auto& block : json["dequant"]) {
        const std::string desc = std::string(type.name) + ": " + block["desc"].get<std::string>();
        const auto expected = floats(block["values"]);
        const auto header = bytes_of_hex(block.value("row_header_hex", ""));
        const auto codes = bytes_of_hex(block["hex"]);
        std::vector<std::byte> bytes = header;
        bytes.insert(bytes.end(), codes.begin(), codes.end());
        std::vector<float> values(expected.size());
        ASSERT_EQ(int64_t(bytes.size()), row_bytes(type.dtype, int64_t(values.size())));
        decode_row(type.dtype, bytes.data(), values);
        expect_same_bits(values, expected, desc);

        if (row.empty()) row = header;
        if (!std::equal(header.begin(), header.end(), row.begin())) continue;
        row.insert(row.end(), codes.begin(), codes.end());
        row_values.insert(row_values.end(), expected.begin(), expected.end());
    }
    std::vector<float> values(row_values.size());
    decode_row(type.dtype, row.data(), values);
    expect_same_bits(values, row_values, std::string(type.name) + " as one row");
}

INSTANTIATE_TEST_SUITE_P(Types, Decode, testing::ValuesIn(block_types()),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace tandem::gguf
