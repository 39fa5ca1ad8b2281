// Every encoder: byte for byte against the vectors of its type.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gguf/dtype.h"
#include "gguf/error.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

std::vector<DType> block_types_with_encoder() {
    std::vector<DType> types;
    for (const DTypeTraits& type : dtypes()) {
        if (type.block > 1 && type.encode) types.push_back(type.dtype);
    }
    return types;
}

std::vector<float> floats(const nlohmann::json& json) {
    std::vector<float> values;
    for (const auto& value : json) values.push_back(float(value.get<double>()));
    return values;
}

std::vector<std::byte> encoded(DType dtype, std::span<const float> values,
                               std::span<const float> importance = {}) {
    std::vector<std::byte> row(size_t(row_bytes(dtype, int64_t(values.size()))));
    encode_row(dtype, values, row.data(), importance);
    return row;
}

class Encode : public testing::TestWithParam<DType> {};

TEST_P(Encode, vectors) {
    const auto json = test::vectors("quant/" + std::string(name(GetParam())) + ".json");
    int cases = 0;
    for (const char* kind : {"quantize", "quantize_reference"}) {
        for (const auto& item : json.value(kind, nlohmann::json::array())) {
            const auto row = encoded(GetParam(), floats(item["input"]),
                                     floats(item.value("importance", nlohmann::json::array())));
            EXPECT_EQ(test::hex_of_bytes(row), item["hex"]) << item["desc"];
            cases++;
        }
    }
    EXPECT_GE(cases, 5);
}

INSTANTIATE_TEST_SUITE_P(Types, Encode, testing::ValuesIn(block_types_with_encoder()),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace tandem::gguf
