// Products of prompts with F16 and BF16, which some sets multiply as 16-bit integers whose scales
// are powers of two: any size of weights and tokens, and what is no number. Likewise with codes of
// 8 bits.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gguf/dtype.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;

constexpr int64_t rows = 48, columns = 300;

// Blocks of so many columns have these sizes in turn.
std::vector<float> random_row(int seed, const std::vector<float>& sizes, int64_t length,
                              size_t block) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::normal_distribution<float> normal;
    std::vector<float> x(static_cast<size_t>(length));
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = sizes[(i / block + size_t(seed)) % sizes.size()] * normal(random);
    return x;
}

std::vector<std::vector<float>> random_rows(int64_t count, const std::vector<float>& sizes,
                                            int64_t length = columns, size_t block = 32) {
    std::vector<std::vector<float>> all;
    for (int64_t row = 0; row < count; ++row)
        all.push_back(random_row(int(row), sizes, length, block));
    return all;
}

// Weights [row][column] as the type has them.
struct Weights {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::vector<float>> values;

    Weights(DType dtype, std::vector<std::vector<float>> wanted) : values(std::move(wanted)) {
        for (std::vector<float>& row : values) {
            bytes.emplace_back(size_t(gguf::row_bytes(dtype, std::ssize(row))));
            gguf::encode_row(dtype, row, bytes.back().data());
            gguf::decode_row(dtype, bytes.back().data(), row);
        }
    }
};

// Columns that have a scale where such a product's tokens are 16-bit integers, else 0.
int64_t block_of(const kernels::cpu::Isa& isa, DType dtype) {
    return kernels::cpu::tile_form_for(isa, dtype, columns).q16_block;
}

std::vector<float> product_of(const test::Machine& machine, DType dtype, const Weights& weights,
                              const std::vector<std::vector<float>>& tokens) {
    return test::product_of(kernels::cpu::find_variant(machine.variant)->isa(), dtype,
                            weights.bytes, tokens);
}

// That y [tokens][rows] is the product, but for a part of the lengths of blocks.
void expect_product(const std::vector<float>& y, const std::vector<std::vector<float>>& weights,
                    const std::vector<std::vector<float>>& tokens, double part,
                    size_t block_columns = 32) {
    for (size_t i = 0; i < y.size(); ++i) {
        const std::vector<float>&x = tokens[i / weights.size()], &w = weights[i % weights.size()];
        double expected = 0, rounding = 0;
        for (size_t block = 0; block < w.size(); block += block_columns) {
            double of_row = 0, of_token = 0;
            for (size_t c = block; c < std::min(block + block_columns, w.size()); ++c) {
                expected += double(w[c]) * x[c];
                of_row += double(w[c]) * w[c];
                of_token += double(x[c]) * x[c];
            }
            rounding += part * std::sqrt(of_row * of_token);
        }
        ASSERT_NEAR(y[i], expected, rounding) << i;
    }
}

TEST(CpuHalves, ProductsMeetNumbersOfAnySize) {
    for (DType dtype : {DType::F16, DType::BF16})
        for (const test::Machine& machine : test::machines()) {
            SCOPED_TRACE(machine.variant + " " + std::string(gguf::name(dtype)));
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const int64_t block = std::max<int64_t>(block_of(isa, dtype), 32);
            const int64_t length = columns * block / 32;
            const auto tokens = random_rows(19, {1, 1e-10f, 0, 1e-4f, 3e5f}, length, size_t(block));
            const Weights weights(
                dtype, random_rows(rows, {0.02f, 1e-7f, 3e-5f, 1e4f, 0}, length, size_t(block)));
            // Bits that every set keeps of a number.
            const double part = dtype == DType::F16 ? 0x1p-12 : 0x1p-8;
            expect_product(product_of(machine, dtype, weights, tokens), weights.values, tokens,
                           part, size_t(block));
        }
}

// Codes of few levels and signed ones of 8 bits are exact, and tokens keep as many bits as with
// F16, where they are multiplied in 16 bits.
TEST(CpuHalves, CodesAreExact) {
    for (DType dtype :
         {DType::Q8_0, DType::IQ4_NL, DType::TQ1_0, DType::TQ2_0, DType::Q1_0, DType::Q2_0}) {
        const bool few_levels = kernels::cpu::has_few_levels(dtype);
        const int64_t length = few_levels ? 768 : 352;
        const auto tokens = random_rows(19, {1, 1e-10f, 0, 1e-4f, 3e5f}, length);
        const Weights weights(dtype, random_rows(rows, {0.02f, 1e-3f, 0, 100}, length));
        for (const test::Machine& machine : test::machines()) {
            SCOPED_TRACE(machine.variant + " " + std::string(gguf::name(dtype)));
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const bool in_16_bits = few_levels || isa.sums_in_halves;
            EXPECT_EQ(block_of(isa, dtype), in_16_bits ? 32 : 0);
            if (!in_16_bits) continue;
            expect_product(product_of(machine, dtype, weights, tokens), weights.values, tokens,
                           0x1p-14);
        }
    }
}

// The launches of a device that multiply, for so many tokens: their kernels and how many products
// each has.
using Launches = std::vector<std::pair<std::string, size_t>>;
Launches products(const test::SmallModel& model, const test::Machine& machine, int64_t tokens) {
    const auto device = test::make_cpu(machine);
    const parallel::Programs programs = model.programs(*device, tokens);
    Launches all;
    for (const auto& item : programs.body[fitting(programs.body, tokens)].items)
        for (const kernels::Launch& launch : std::get<parallel::Segment>(item).launches)
            if (launch.kernel->name.starts_with("linear"))
                all.emplace_back(launch.kernel->name, launch.operations.size());
    return all;
}

// Adds up products of one value with weights of these types.
struct Sums : test::SmallModel {
    explicit Sums(const std::vector<DType>& types) {
        const graph::Axis k = axis("k", 64), n = axis("n", 24);
        const graph::Tensor x = activation("x", {k});
        std::vector<graph::Tensor> all;
        for (size_t i = 0; i < types.size(); ++i)
            all.push_back(linear(x, weight("w" + std::to_string(i), types[i], {n}, {k})));
        graph::Tensor y = all[0];
        for (size_t i = 1; i < all.size(); ++i) y = add(y, all[i]);
        finish(y);
    }
};

// Whether weights of other types read the same value, before them or behind, changes no form.
TEST(CpuHalves, NeighboursDoNotDecideHowCodesAreRead) {
    const std::vector<DType> three{DType::Q5_0, DType::Q5_0, DType::Q8_0};
    const std::vector<DType> two{DType::Q8_0, DType::Q5_0};
    const std::vector<DType> four{DType::Q5_0, DType::IQ4_NL, DType::Q8_0, DType::Q5_0};
    const std::vector<DType> levels{DType::Q5_0, DType::Q2_0, DType::Q2_0, DType::Q5_0};
    // Of which the first two read small codes on processors that add cheaply.
    const std::vector<DType> small{DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1};
    for (const test::Machine& machine : test::machines()) {
        SCOPED_TRACE(machine.variant);
        const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        const bool halves = isa.sums_in_halves,
                   units = isa.reduced == kernels::cpu::Reduced::AllTypes;
        const std::string codes = "linear.q16_of_codes", few = "linear.packed";
        const std::string others = units ? "linear.units" : few;
        EXPECT_EQ(products(Sums(three), machine, 40),
                  halves ? Launches({{others, 2}, {codes, 1}}) : Launches({{others, 3}}));
        EXPECT_EQ(products(Sums(two), machine, 40),
                  halves ? Launches({{codes, 1}, {others, 1}}) : Launches({{others, 2}}));
        EXPECT_EQ(
            products(Sums(four), machine, 40),
            halves ? Launches({{others, 1}, {codes, 2}, {others, 1}}) : Launches({{others, 4}}));
        EXPECT_EQ(products(Sums(four), machine, 8), Launches({{few, 4}}));
        EXPECT_EQ(products(Sums(levels), machine, 40),
                  Launches({{others, 1}, {"linear.q16_of_few_levels", 2}, {others, 1}}));
        EXPECT_EQ(products(Sums(levels), machine, 8), Launches({{few, 4}}));
        const bool apart = kernels::cpu::adds_cheaply() && kernels::cpu::find_variant("avx512bf16");
        const Launches packed = apart ? Launches({{few, 2}, {few, 2}}) : Launches({{few, 4}});
        EXPECT_EQ(products(Sums(small), machine, 8), packed);
        EXPECT_EQ(products(Sums(small), machine, 40), units ? Launches({{others, 4}}) : packed);
    }
    for (const auto& types : {three, two, four, levels, small})
        test::expect_close(Sums(types), {test::random_step(0, 40), test::random_step(0, 3)},
                           test::bound_of(DType::Q8_0));
}

// A row's or a token's largest code alone in each block, with either sign: their sums are the
// largest there are. A row's scale is a power of two: 13992 is its code in F16.
TEST(CpuHalves, CrossedProductsAreTheSame) {
    constexpr float large = 0.854f;
    auto alone = [](int64_t count, size_t block) {
        auto all = random_rows(count, {0.02f, 3e-5f, 0, 1e4f}, 320, block);
        for (size_t row = 0; row < all.size() * 2 / 3; ++row)
            for (size_t column = 0; column < all[row].size(); ++column)
                all[row][column] = column % block == row % 8 * 4 + row / 8 % 4
                                       ? (row / 8 % 2 ? -large : large)
                                       : 0;
        return all;
    };
    for (DType dtype : {DType::F16, DType::BF16})
        for (const test::Machine& machine : test::machines()) {
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const kernels::cpu::MatrixKernels& kernels = *isa.kernels(int(dtype));
            if (!kernels.multiply_adding) continue;
            SCOPED_TRACE(machine.variant + " " + std::string(gguf::name(dtype)));
            const auto block = size_t(kernels.q16_block);
            const Weights weights(dtype, alone(rows, block));
            const auto tokens = alone(2 * rows + 5, block);
            auto product = [&](bool adding) {
                return test::product_of(isa, dtype, weights.bytes, tokens, true, adding);
            };
            expect_product(product(true), weights.values, tokens, 0x1p-13, block);
            if (kernels.multiply_q16)
                EXPECT_EQ(product(true), product(false));
            else  // in bf16, then
                expect_product(product(false), weights.values, tokens, 0x1p-8, block);
        }
}

// Each is so small that the scales of its codes are next to the least that there are.
TEST(CpuHalves, TinyTokensGiveNextToNothing) {
    const Weights weights(DType::F16, random_rows(rows, {1e-6f, 0, 1}));
    for (const test::Machine& machine : test::machines())
        for (float size : {1e-18f, 1e-24f, 1e-30f, 1e-38f, 1e-44f, 0.0f})
            for (float y : product_of(machine, DType::F16, weights, random_rows(5, {size})))
                ASSERT_LE(std::abs(y), float(columns) * std::max(size, 1e-22f))
                    << machine.variant << " " << size;
}

TEST(CpuHalves, WhatIsNoNumberSpoilsItsRowOrTokenOnly) {
    const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
    for (DType dtype : {DType::F16, DType::BF16})
        for (const test::Machine& machine : test::machines())
            for (float value : {nan, infinity, -infinity})
                for (size_t column = 3; column < columns; column += 37) {
                    auto rows_of_one = random_rows(rows, {1, 1e-7f, 0});
                    auto tokens_of_one = random_rows(5, {1, 1e-20f, 0});
                    const Weights sound(dtype, rows_of_one);
                    rows_of_one[17][column] = value;
                    const Weights spoiled(dtype, rows_of_one);
                    const std::vector<float> y = product_of(machine, dtype, spoiled, tokens_of_one);
                    for (size_t i = 0; i < y.size(); ++i)
                        ASSERT_EQ(std::isfinite(y[i]), i % rows != 17)
                            << machine.variant << " row with " << value << " in " << column;
                    tokens_of_one[2][column] = value;
                    const std::vector<float> z = product_of(machine, dtype, sound, tokens_of_one);
                    for (size_t i = 0; i < z.size(); ++i)
                        ASSERT_EQ(std::isfinite(z[i]), i / rows != 2)
                            << machine.variant << " token with " << value << " in " << column;
                }
}

// Of what is no number, all bits may be set: rounding must not carry into the sign.
TEST(CpuHalves, WhatIsNoNumberWithAllBitsSetIsNone) {
    const auto tokens = random_rows(19, {1});
    for (DType dtype : {DType::F16, DType::BF16})
        for (const test::Machine& machine : test::machines())
            for (int sign : {0x7f, 0xff})
                for (size_t column : {4, 131, 299}) {
                    Weights weights(dtype, random_rows(rows, {1}));
                    weights.bytes[17][2 * column] = std::byte{0xff};
                    weights.bytes[17][2 * column + 1] = std::byte(sign);
                    const std::vector<float> y = product_of(machine, dtype, weights, tokens);
                    for (size_t i = 0; i < y.size(); ++i)
                        ASSERT_EQ(std::isnan(y[i]), i % rows == 17)
                            << machine.variant << " " << gguf::name(dtype) << " " << i;
                }
}

}  // namespace
}  // namespace tandem
