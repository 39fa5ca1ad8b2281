// Sums of products are integers of 16 bits in places: codes of rows and tokens as large as they can
// be, with signs that let sums of whole lanes, of their halves and of single columns grow.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "gguf/half.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;

struct Case {
    DType dtype;
    std::vector<size_t> halves;  // where a block has numbers of F16
};

const Case cases[] = {
    {DType::Q4_0, {0}},    {DType::Q4_1, {0, 2}},   {DType::Q5_0, {0}},   {DType::Q5_1, {0, 2}},
    {DType::Q6_0, {0}},    {DType::Q8_0, {0}},      {DType::IQ4_NL, {0}}, {DType::MXFP4, {}},
    {DType::NVFP4, {}},    {DType::Q2_K, {80, 82}}, {DType::Q3_K, {108}}, {DType::Q4_K, {0, 2}},
    {DType::Q5_K, {0, 2}}, {DType::Q6_K, {208}},    {DType::IQ4_XS, {0}}, {DType::IQ1_S, {0}},
    {DType::IQ1_M, {}},    {DType::IQ2_XXS, {0}},   {DType::IQ2_XS, {0}}, {DType::IQ2_S, {0}},
    {DType::IQ3_XXS, {0}}, {DType::IQ3_S, {0}},     {DType::TQ1_0, {52}}, {DType::TQ2_0, {64}},
    {DType::Q1_0, {0}},    {DType::Q2_0, {0}},      {DType::IQ2_K, {0}},  {DType::IQ3_K, {0}},
    {DType::IQ4_K, {0}},   {DType::IQ5_K, {0}},     {DType::IQ6_K, {0}},  {DType::IQ2_KS, {}},
    {DType::IQ3_KS, {}},   {DType::IQ4_KS, {}},     {DType::IQ5_KS, {}},  {DType::IQ4_KSS, {}},
    {DType::IQ2_KL, {}},   {DType::IQ1_KT, {}},     {DType::IQ2_KT, {}},  {DType::IQ3_KT, {}},
    {DType::IQ4_KT, {}},
};

constexpr int64_t columns = 512, rows = 16;

// Rows of the same bits, all, none or some of them, and scales of one.
std::vector<std::vector<std::byte>> extreme_rows(const Case& of) {
    const auto traits = gguf::traits(of.dtype);
    const uint8_t fills[] = {0xff, 0x00, 0x77, 0x88, 0x7f, 0x80, 0xf0, 0x0f};
    std::vector<std::vector<std::byte>> all;
    std::mt19937 random(2);
    for (int64_t row = 0; row < rows; ++row) {
        std::vector<std::byte> bytes(size_t(gguf::row_bytes(of.dtype, columns)));
        for (std::byte& byte : bytes)
            byte = std::byte(row < std::ssize(fills) ? fills[row] : uint8_t(random()));
        const uint16_t one = gguf::f32_to_f16(1);
        const float single = 1;
        if (traits.row_header == 2) std::memcpy(bytes.data(), &one, 2);
        if (traits.row_header == 4) std::memcpy(bytes.data(), &single, 4);
        for (size_t block = traits.row_header; block < bytes.size();
             block += size_t(traits.block_bytes)) {
            for (size_t at : of.halves) std::memcpy(&bytes[block + at], &one, 2);
            if (of.dtype == DType::MXFP4) bytes[block] = std::byte(127);
            if (of.dtype == DType::NVFP4) std::memset(&bytes[block], 0x38, 4);
            // Four bits of it above each three scales of 16.
            for (size_t i = 0; of.dtype == DType::IQ1_M && i < 4; ++i) {
                std::byte& high = bytes[block + 49 + 2 * i];
                high = (high & std::byte(0x0f)) | std::byte(one >> (4 * i) << 4);
            }
        }
        all.push_back(bytes);
    }
    return all;
}

// Magnitudes of one; and one column of each 8 or 16 alone, or 8 of each 16, side by side or two of
// every four, as codes of many alike are smaller.
std::vector<std::vector<float>> extreme_tokens() {
    std::vector<std::vector<float>> tokens;
    for (int64_t period : {0, 1, 2, 4, 8, 16, 32}) {
        std::vector<float> x;
        for (int64_t k = 0; k < columns; ++k)
            x.push_back(period > 0 && k / period % 2 ? -1.0f : 1.0f);
        tokens.push_back(x);
        for (float& value : x) value = -value;
        tokens.push_back(x);
    }
    // Of these, blocks of 32 have the largest codes and the largest scale below a power of two.
    for (float code : {127.0f, -127.0f, 120.0f})
        tokens.push_back(std::vector<float>(columns, code / 128));
    for (size_t apart : {8, 16}) {
        tokens.push_back(std::vector<float>(columns, 0.0f));
        for (size_t k = 0; k < columns; k += apart) tokens.back()[k] = 1;
    }
    for (float sign : {1.0f, -1.0f})
        for (size_t run : {8, 2})
            for (bool second : {false, true}) {
                tokens.push_back(std::vector<float>(columns, 0.0f));
                for (size_t k = 0; k < columns; ++k)
                    if ((k % (2 * run) >= run) == second) tokens.back()[k] = sign;
            }
    return tokens;
}

TEST(CpuSums, OfTheLargestCodesFit) {
    const auto tokens = extreme_tokens();
    struct How {
        bool tiles, adding;
    };
    for (const test::Machine& machine : test::machines())
        for (const Case& of : cases)
            for (How how : {How{true, true}, How{true, false}, How{false, false}}) {
                // Small levels change by more than the bound where they are rounded.
                if (of.dtype == DType::IQ6_K) continue;
                const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
                if (how.adding && !isa.place_small) continue;
                const auto bytes = extreme_rows(of);
                const std::vector<float> y =
                    test::product_of(isa, of.dtype, bytes, tokens, how.tiles, how.adding);
                for (size_t row = 0; row < bytes.size(); ++row) {
                    std::vector<float> weights(columns);
                    gguf::decode_row(of.dtype, bytes[row].data(), weights);
                    for (size_t token = 0; token < tokens.size(); ++token) {
                        double expected = 0, all = 0;
                        for (size_t k = 0; k < weights.size(); ++k) {
                            expected += double(weights[k]) * tokens[token][k];
                            all += std::abs(double(weights[k]) * tokens[token][k]);
                        }
                        // Codes of a token are within half a step of 120 or more or, of many alike,
                        // of 63.
                        EXPECT_NEAR(y[token * bytes.size() + row], expected, all * 0.01 + 1e-4)
                            << machine.variant << " " << gguf::name(of.dtype) << " row " << row
                            << " token " << token << (how.tiles ? " in tiles" : " in rows")
                            << (how.adding ? ", adding" : "");
                    }
                }
            }
}

// Tiles are multiplied a few tokens at a time, of which the last may be fewer.
TEST(CpuSums, OfATokenDoNotDependOnTheOthers) {
    const auto tokens = extreme_tokens();
    for (const test::Machine& machine : test::machines())
        for (const Case& of : cases) {
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const auto bytes = extreme_rows(of);
            const std::vector<float> all = test::product_of(isa, of.dtype, bytes, tokens);
            for (int64_t count : {1, 2, 3, 4, 13, 14, 15, 17, 18}) {
                const std::vector some(tokens.begin(), tokens.begin() + count);
                const std::vector<float> y = test::product_of(isa, of.dtype, bytes, some);
                EXPECT_TRUE(std::equal(y.begin(), y.end(), all.begin()))
                    << machine.variant << " " << gguf::name(of.dtype) << " " << count;
            }
        }
}

// Crossed products add up the same integers, and so do products of pairs, or of fewer groups. They
// are tried on machines, too, that are not faster with them.
TEST(CpuSums, OfCrossedProductsAreTheSame) {
    const auto tokens = extreme_tokens();
    for (const test::Machine& machine : test::machines())
        for (const Case& of : cases) {
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const kernels::cpu::MatrixKernels& kernels = *isa.kernels(int(of.dtype));
            EXPECT_EQ(bool(kernels.multiply_adding), bool(isa.place_small)) << gguf::name(of.dtype);
            if (!kernels.multiply_adding) continue;
            const auto bytes = extreme_rows(of);
            EXPECT_EQ(test::product_of(isa, of.dtype, bytes, tokens, true, true),
                      test::product_of(isa, of.dtype, bytes, tokens, true, false,
                                       kernels.crosses_small_codes))
                << machine.variant << " " << gguf::name(of.dtype);
        }
}

}  // namespace
}  // namespace tandem
