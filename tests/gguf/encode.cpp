// Every encoder: byte for byte against the vectors of its type.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "gguf/dtype.h"
#include "gguf/error.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::floats;

std::vector<DType> block_types_with_encoder() {
    std::vector<DType> types;
    for (const DTypeTraits& type : dtypes()) {
        if (type.block > 1 && type.encode) types.push_back(type.dtype);
    }
    return types;
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

std::vector<float> decoded(DType dtype, const std::vector<std::byte>& row, size_t elements) {
    std::vector<float> values(elements);
    decode_row(dtype, row.data(), values);
    return values;
}

std::vector<float> normal_numbers(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
}

double weighted_error(std::span<const float> values, std::span<const float> found,
                      std::span<const float> weights) {
    double error = 0;
    double total = 0;
    for (size_t i = 0; i < values.size(); i++) {
        const double weight = weights.empty() ? 1 : weights[i];
        error += weight * std::pow(double(found[i]) - values[i], 2);
        total += weight * std::pow(double(values[i]), 2);
    }
    return error / total;
}

TEST_P(Encode, a_row_is_its_blocks) {
    const DTypeTraits& type = traits(GetParam());
    const auto values = normal_numbers(size_t(type.block) * 4, 1);
    std::vector<std::byte> blocks;
    for (size_t i = 0; i < values.size(); i += type.block) {
        const auto block = encoded(type.dtype, std::span(values).subspan(i, type.block));
        blocks.insert(blocks.end(), block.begin(), block.end());
    }
    EXPECT_EQ(encoded(type.dtype, values), blocks);
}

// Relative squared errors on normal numbers, as measured when the encoder matched its vectors.
const std::map<DType, double> normal_errors = {
    {DType::Q4_0, 0.0074},   {DType::Q4_1, 0.0062},   {DType::Q5_0, 0.0018},
    {DType::Q5_1, 0.0015},   {DType::Q8_0, 2.9e-05},  {DType::Q8_1, 2.9e-05},
    {DType::Q2_K, 0.088},    {DType::Q3_K, 0.023},    {DType::Q4_K, 0.0052},
    {DType::Q5_K, 0.0013},   {DType::Q6_K, 0.00031},  {DType::Q8_K, 4.7e-05},
    {DType::IQ4_NL, 0.0057}, {DType::IQ4_XS, 0.0058}, {DType::TQ1_0, 0.65},
    {DType::TQ2_0, 0.65},    {DType::MXFP4, 0.013},   {DType::NVFP4, 0.009},
    {DType::Q1_0, 0.36},     {DType::Q2_0, 0.52},
};

TEST_P(Encode, error_on_normal_numbers) {
    const auto values = normal_numbers(16384, 2);
    const auto found = decoded(GetParam(), encoded(GetParam(), values), values.size());
    const double expected = normal_errors.at(GetParam());
    EXPECT_NEAR(weighted_error(values, found, {}), expected, 0.05 * expected);
}

TEST_P(Encode, importance_lowers_the_weighted_error) {
    const auto values = normal_numbers(4096, 3);
    auto importance = normal_numbers(4096, 4);
    for (float& weight : importance) weight *= weight * weight * weight;
    const auto error_with = [&](std::span<const float> weights) {
        const auto row = encoded(GetParam(), values, weights);
        return weighted_error(values, decoded(GetParam(), row, values.size()), importance);
    };
    EXPECT_LE(error_with(importance), error_with({}));
}

// Columns that no input ever used still keep their weights.
TEST_P(Encode, importance_of_zero_is_no_importance) {
    const auto values = normal_numbers(1024, 5);
    const std::vector<float> zeros(values.size());
    const auto found = decoded(GetParam(), encoded(GetParam(), values, zeros), values.size());
    const auto plain = decoded(GetParam(), encoded(GetParam(), values), values.size());
    EXPECT_LT(weighted_error(values, found, {}), 1.5 * weighted_error(values, plain, {}) + 1e-9);
}

TEST_P(Encode, zeros_stay_zero) {
    const std::vector<float> zeros(512);
    for (float value : decoded(GetParam(), encoded(GetParam(), zeros), zeros.size())) {
        EXPECT_EQ(value, 0.0f);
    }
}

// Whatever the numbers are, encoding ends, and well within the range of every integer.
TEST_P(Encode, odd_numbers_do_no_harm) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float odd[] = {infinity, -infinity, NAN, 3.4e38f, -3.4e38f, 1e-45f, -1e-42f, 1e-30f, 0};
    std::mt19937 random(6);
    for (int round = 0; round < 200; round++) {
        std::vector<float> values = normal_numbers(256, uint32_t(round));
        const float scale = std::ldexp(1.0f, int(random() % 250) - 140);
        for (float& value : values) {
            value = round % 2 != 0 && random() % 8 == 0 ? odd[random() % std::size(odd)]
                                                        : value * scale;
        }
        const std::vector<float> importance(256, round % 3 == 0 ? 1e-40f : 1e30f);
        (void)encoded(GetParam(), values);
        (void)encoded(GetParam(), values, importance);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Encode, testing::ValuesIn(block_types_with_encoder()),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(Encoders, refuse_what_they_cannot_do) {
    std::byte row[512];
    std::vector<float> values(256, 1.0f);
    EXPECT_EQ(test::error_of([&] { encode_row(DType::IQ2_XXS, values, row); }),
              "cannot encode to IQ2_XXS: this type can only be read; choose another, such as Q4_K "
              "or Q8_0");
    std::vector<float> importance(256, 1.0f);
    importance[7] = -1;
    EXPECT_EQ(
        test::error_of([&] { encode_row(DType::Q4_K, values, row, importance); }),
        "cannot encode to Q4_K: an importance is -1.000000, allowed are finite values from 0");
}

}  // namespace
}  // namespace tandem::gguf
