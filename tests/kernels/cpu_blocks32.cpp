// Products of prompts with types in blocks of 32: scales of tokens are powers of 2^(1/8) and only
// change exponents, whatever scales they meet.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gguf/half.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;
using kernels::cpu::Isa;
using kernels::cpu::Q8Tile;
using test::code_of;

constexpr float infinity = std::numeric_limits<float>::infinity();

// Magnitudes from 1e-25 to 1e25 within a row, and blocks of zeros.
std::vector<float> wild_row(int64_t columns, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> exponent(-25, 25);
    std::vector<float> x(size_t(columns), 0.0f);
    for (size_t block = 0; block < x.size(); block += 32) {
        const float scale = block % 160 == 64 ? 0 : std::pow(10.0f, float(exponent(random)));
        for (size_t i = block; i < block + 32; ++i) x[i] = scale * normal(random);
    }
    return x;
}

double scale_of(const Q8Tile& tile, int token, int block) {
    const double power = std::bit_cast<float>(tile.origins32[token][block]) / 0x1.8p23;
    return tile.scales[token] * power * std::exp2(-0.125 * tile.steps32[token][block]);
}

TEST(CpuBlocks32, ScalesOfTokensAreTheLeastOfTheirSteps) {
    const int64_t columns = 256;
    auto expect_least = [&](const Isa& isa, const test::Rounding& rounding) {
        for (int seed = 0; seed < 20; ++seed) {
            const std::vector<float> x = wild_row(columns, seed);
            Q8Tile tile;
            rounding.place(x.data(), columns, 32, reinterpret_cast<uint8_t*>(&tile), 3);
            for (int block = 0; block < columns / 32; ++block) {
                double most = 0;
                int sum = 0;
                const double scale = scale_of(tile, 3, block);
                for (int i = 0; i < 32; ++i) {
                    const int at = 32 * block + i;
                    const int code = code_of(tile, 3, at, isa);
                    most = std::max<double>(most, std::abs(x[size_t(at)]));
                    sum += code;
                    EXPECT_LE(std::abs(code), rounding.largest);
                    EXPECT_LE(std::abs(code * scale - x[size_t(at)]), 0.500001 * scale);
                }
                EXPECT_GE(scale, most / rounding.largest * (1 - 1e-6));
                // Small beside their neighbours, blocks are rounded as a part of these.
                if (scale > 0x1.1p-48 * tile.scales[3]) {
                    EXPECT_LE(scale, most / rounding.largest * std::exp2(0.125) * (1 + 1e-6));
                }
                EXPECT_EQ(tile.sums32[3][block], sum);
                EXPECT_NEAR(tile.real_sums32[3][block] * double(tile.scales[3]), sum * scale,
                            1e-6 * std::abs(sum * scale));
            }
        }
    };
    for (const test::Machine& machine : test::machines()) {
        SCOPED_TRACE(machine.variant);
        const Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (const test::Rounding& rounding : test::roundings(isa)) expect_least(isa, rounding);
    }
}

// A token and many are rounded alike.
TEST(CpuBlocks32, RowsAndTilesHaveTheSameCodes) {
    const int64_t columns = 256;
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    auto expect_same = [&](const Isa& isa, const test::Rounding& rounding) {
        for (float scale : {1e-20f, 0.01f, 1.0f, 3e10f}) {
            std::vector<float> x(columns);
            for (float& value : x) value = scale * normal(random);
            const kernels::cpu::Q8Row at = kernels::cpu::q8_row(columns, 32);
            std::vector<uint8_t> row(size_t(at.bytes));
            rounding.quantize(x.data(), columns, 32, row.data());
            Q8Tile tile;
            rounding.place(x.data(), columns, 32, reinterpret_cast<uint8_t*>(&tile), 0);
            for (int i = 0; i < columns; ++i)
                ASSERT_EQ(int8_t(row[size_t(i)]), code_of(tile, 0, i, isa));
            for (int block = 0; block < columns / 32; ++block) {
                float of_row;
                std::memcpy(&of_row, &row[size_t(at.scales + 4 * block)], sizeof of_row);
                EXPECT_NEAR(of_row, scale_of(tile, 0, block), 1e-6 * of_row);
            }
        }
    };
    for (const test::Machine& machine : test::machines()) {
        const Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (const test::Rounding& rounding : test::roundings(isa)) expect_same(isa, rounding);
    }
}

// Rows whose blocks have these scales, in turn, and minima where there are any, and random codes.
struct Weights {
    static constexpr int64_t rows = 48, columns = 544, blocks = columns / 32;
    static constexpr float scales[] = {0, 6e-8f, 1, -1, 3e-5f, 65504, -6e-8f, 0.01f, 0, 1e-3f, -7};
    DType dtype;
    int64_t block_bytes = gguf::traits(dtype).block_bytes;
    bool has_minima = dtype == DType::Q4_1 || dtype == DType::Q5_1;
    std::vector<std::vector<std::byte>> bytes;

    explicit Weights(DType type) : dtype(type) {
        std::mt19937 random(1);
        for (int64_t row = 0; row < rows; ++row) {
            bytes.emplace_back(size_t(blocks * block_bytes));
            for (std::byte& byte : bytes.back()) byte = std::byte(random());
            for (int64_t block = 0; block < blocks; ++block) {
                set_scale(row, block, scale(row + 3 * block));
                if (has_minima) set_half(row, block, 2, scale(row + 5 * block));
            }
        }
    }
    static float scale(int64_t n) { return scales[n % std::ssize(scales)]; }
    void set_scale(int64_t row, int64_t block, float scale) { set_half(row, block, 0, scale); }
    void set_half(int64_t row, int64_t block, int64_t at, float value) {
        const uint16_t half = gguf::f32_to_f16(value);
        std::memcpy(&bytes[size_t(row)][size_t(block_bytes * block + at)], &half, 2);
    }
    // Their numbers.
    std::vector<float> row(int64_t number) const {
        std::vector<float> numbers(columns);
        gguf::decode_row(dtype, bytes[size_t(number)].data(), numbers);
        return numbers;
    }

    // y [tokens][rows]
    std::vector<float> times(const Isa& isa, const std::vector<std::vector<float>>& tokens) const {
        return test::product_of(isa, dtype, bytes, tokens);
    }
};

double largest_of(const std::vector<float>& x, size_t first, size_t count) {
    double most = 0;
    for (size_t i = first; i < std::min(first + count, x.size()); ++i)
        most = std::max<double>(most, std::abs(x[i]));
    return most;
}

constexpr DType types[] = {DType::Q8_0, DType::Q4_0, DType::Q4_1,
                           DType::Q5_0, DType::Q5_1, DType::Q6_0};

TEST(CpuBlocks32, ProductsMeetScalesOfAnySize) {
    std::vector<std::vector<float>> tokens;
    for (int seed = 0; seed < 19; ++seed) tokens.push_back(wild_row(Weights::columns, seed));
    for (const DType dtype : types) {
        const Weights weights(dtype);
        std::vector<std::vector<float>> numbers;
        for (int64_t row = 0; row < Weights::rows; ++row) numbers.push_back(weights.row(row));
        for (const test::Machine& machine : test::machines()) {
            const Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            const std::vector<float> y = weights.times(isa, tokens);
            for (size_t token = 0; token < tokens.size(); ++token)
                for (size_t row = 0; row < numbers.size(); ++row) {
                    const std::vector<float>&x = tokens[token], &w = numbers[row];
                    double expected = 0, rounding = 0;
                    for (size_t column = 0; column < x.size(); ++column) {
                        const size_t block = column / 32 * 32, panel = column / 256 * 256;
                        const double of_block =
                            largest_of(x, block, 32) * 1.0906 / kernels::cpu::largest_code;
                        const double of_panel = largest_of(x, panel, 256);
                        expected += double(w[column]) * x[column];
                        rounding +=
                            std::abs(w[column]) * (0.5 * std::max(of_block, of_panel * 0x1p-48) +
                                                   1e-6 * std::abs(x[column]));
                    }
                    EXPECT_NEAR(y[token * numbers.size() + row], expected, rounding)
                        << machine.variant << " " << gguf::name(dtype) << " token " << token
                        << " row " << row;
                }
        }
    }
}

TEST(CpuBlocks32, ScalesOfZeroGiveNextToNothing) {
    for (const DType dtype : {DType::Q8_0, DType::Q4_0, DType::Q5_0}) {
        Weights weights(dtype);
        for (int64_t block = 0; block < Weights::blocks; ++block) weights.set_scale(5, block, 0);
        const std::vector<std::vector<float>> tokens(3, std::vector<float>(Weights::columns, 1.0f));
        for (const test::Machine& machine : test::machines()) {
            const std::vector<float> y =
                weights.times(kernels::cpu::find_variant(machine.variant)->isa(), tokens);
            for (size_t token = 0; token < tokens.size(); ++token)
                EXPECT_NEAR(y[token * Weights::rows + 5], 0, 1e-18)
                    << machine.variant << " " << gguf::name(dtype);
        }
    }
}

TEST(CpuBlocks32, WhatIsNoNumberSpoilsItsRowOnly) {
    std::vector<std::vector<float>> tokens;
    for (int seed = 0; seed < 5; ++seed) tokens.push_back(wild_row(Weights::columns, seed));
    for (const DType dtype : types)
        for (const test::Machine& machine : test::machines())
            for (float value : {std::nanf(""), infinity, -infinity})
                for (int64_t block = 0; block < Weights::blocks; ++block) {
                    Weights weights(dtype);
                    weights.set_half(17, block, weights.has_minima ? block % 2 * 2 : 0, value);
                    const std::vector<float> y =
                        weights.times(kernels::cpu::find_variant(machine.variant)->isa(), tokens);
                    for (size_t i = 0; i < y.size(); ++i)
                        ASSERT_EQ(std::isfinite(y[i]), i % Weights::rows != 17)
                            << machine.variant << " " << gguf::name(dtype) << " " << value
                            << " block " << block << " at " << i;
                }
}

TEST(CpuBlocks32, WhatIsNoNumberSpoilsItsTokenOnly) {
    for (const DType dtype : types) {
        const Weights weights(dtype);
        for (const test::Machine& machine : test::machines())
            for (float value : {std::nanf(""), infinity, -infinity})
                for (size_t column = 3; column < size_t(Weights::columns); column += 101) {
                    std::vector<std::vector<float>> tokens;
                    for (int seed = 0; seed < 5; ++seed)
                        tokens.push_back(wild_row(Weights::columns, seed));
                    tokens[2][column] = value;
                    const std::vector<float> y =
                        weights.times(kernels::cpu::find_variant(machine.variant)->isa(), tokens);
                    for (size_t i = 0; i < y.size(); ++i)
                        ASSERT_EQ(std::isfinite(y[i]), i / Weights::rows != 2)
                            << machine.variant << " " << gguf::name(dtype) << " " << value
                            << " column " << column << " at " << i;
                }
    }
}

}  // namespace
}  // namespace tandem
