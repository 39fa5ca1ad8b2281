// The encoders of these tests: what they write is what they mean.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "models/encode.h"
#include "nmse.h"
#include "random.h"

namespace tandem::test {
namespace {

class Encoders : public ::testing::TestWithParam<const Format*> {};

uint32_t ones(std::span<const uint8_t> bytes) {
    uint32_t count = 0;
    for (uint8_t byte : bytes) count += uint32_t(std::popcount(byte));
    return count;
}

// Each bit of a block belongs to one field.
TEST_P(Encoders, fields_fill_the_block) {
    const Format& format = *GetParam();
    const gguf::DTypeTraits& type = gguf::traits(format.dtype);
    std::vector<uint8_t> block(type.block_bytes);
    uint32_t bits = 0;
    const auto fill = [&](const Field& field, uint32_t numbers) {
        for (uint32_t i = 0; i < numbers; ++i) put(field, i, UINT32_MAX, block.data());
        bits += numbers * field.bits;
    };
    for (const Field& field : format.codes) fill(field, type.block / format.unit);
    for (const Field& field : format.scales) fill(field, type.block / format.group);
    fill(format.variants, type.block / format.group);
    fill(format.signs, format.signs.bits == 7 ? type.block / 8 : type.block);
    if (type.row_header == 0) fill(format.base, 1);
    EXPECT_EQ(bits, 8 * type.block_bytes);
    EXPECT_EQ(ones(block), bits);
}

// Relative squared errors on normal numbers, as measured.
const std::map<gguf::DType, double> normal_errors = {
    {gguf::DType::IQ2_XXS, 0.11},  {gguf::DType::IQ2_XS, 0.085},  {gguf::DType::IQ2_S, 0.060},
    {gguf::DType::IQ3_XXS, 0.033}, {gguf::DType::IQ3_S, 0.018},   {gguf::DType::IQ1_S, 0.27},
    {gguf::DType::IQ1_M, 0.22},    {gguf::DType::Q6_0, 0.00041},  {gguf::DType::IQ2_K, 0.073},
    {gguf::DType::IQ3_K, 0.017},   {gguf::DType::IQ4_K, 0.0039},  {gguf::DType::IQ5_K, 0.0010},
    {gguf::DType::IQ6_K, 0.00024}, {gguf::DType::IQ2_KS, 0.089},  {gguf::DType::IQ2_KL, 0.049},
    {gguf::DType::IQ3_KS, 0.022},  {gguf::DType::IQ4_KS, 0.0051}, {gguf::DType::IQ4_KSS, 0.0097},
    {gguf::DType::IQ5_KS, 0.0013}, {gguf::DType::IQ1_KT, 0.17},   {gguf::DType::IQ2_KT, 0.10},
    {gguf::DType::IQ3_KT, 0.028},  {gguf::DType::IQ4_KT, 0.0088},
};

TEST_P(Encoders, error_on_normal_numbers) {
    const gguf::DTypeTraits& type = gguf::traits(GetParam()->dtype);
    Random random(1);
    const size_t length = 1024;
    std::vector<float> values(16 * length), found(values.size());
    for (float& value : values) {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += random.uniform();
        value = float(sum);
    }
    const Encoder encoder(*GetParam());
    std::vector<std::byte> row(size_t(gguf::row_bytes(type.dtype, length)));
    for (size_t i = 0; i < values.size(); i += length) {
        encoder.encode(std::span(values).subspan(i, length), row.data());
        decode_row(type.dtype, row.data(), std::span(found).subspan(i, length));
    }
    EXPECT_LT(nmse(found, values), 1.1 * normal_errors.at(type.dtype));
}

std::vector<const Format*> all() {
    std::vector<const Format*> all;
    for (const Format& format : formats()) all.push_back(&format);
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, Encoders, ::testing::ValuesIn(all()), [](const auto& info) {
    return std::string(gguf::name(info.param->dtype));
});

}  // namespace
}  // namespace tandem::test
