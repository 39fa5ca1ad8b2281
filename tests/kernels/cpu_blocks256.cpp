// Tokens in blocks of 256: the scale is the least that leaves room for the sums of codes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using kernels::cpu::most_magnitude;
using kernels::cpu::Q8Tile;

constexpr int columns = 256;

// Numbers that vary about `middle`, or its negative, so that the sum of the magnitudes of 16 is
// larger the larger it is.
std::vector<float> row_about(float middle, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<float> x(columns);
    for (float& value : x) value = (random() % 2 ? middle : -middle) + normal(random);
    return x;
}

// What the scale would have to be for the largest number, and for the largest sum of 16.
double least_scale(const std::vector<float>& x, int largest_code) {
    double most = 0, most_sum = 0;
    for (size_t first = 0; first < x.size(); first += 16) {
        double sum = 0;
        for (size_t i = first; i < first + 16; ++i) {
            most = std::max<double>(most, std::abs(x[i]));
            sum += std::abs(x[i]);
        }
        most_sum = std::max(most_sum, sum);
    }
    return std::max(most / largest_code, most_sum / (most_magnitude - 8));
}

TEST(CpuBlocks256, ScalesLeaveRoomForSums) {
    std::mt19937 random(3);
    int limited_by_sums = 0, tokens = 0;
    auto expect_room = [&](const kernels::cpu::Isa& isa, const test::Rounding& rounding) {
        for (float middle = 0; middle < 6; middle += 0.1f) {
            const std::vector<float> x = row_about(middle, random);
            Q8Tile tile;
            rounding.place(x.data(), columns, columns, reinterpret_cast<uint8_t*>(&tile), 3);
            const double least = least_scale(x, rounding.largest), scale = tile.scales[3];
            const double most = std::abs(
                *std::ranges::max_element(x, {}, [](float value) { return std::abs(value); }));
            EXPECT_NEAR(scale, least, 1e-6 * least) << middle;
            for (int first = 0; first < columns; first += 16) {
                int sum = 0, magnitude = 0;
                for (int i = first; i < first + 16; ++i) {
                    const int code = test::code_of(tile, 3, i, isa);
                    sum += code;
                    magnitude += std::abs(code);
                    EXPECT_LE(std::abs(code), rounding.largest);
                    EXPECT_LE(std::abs(code * scale - x[size_t(i)]), 0.50001 * scale);
                }
                EXPECT_EQ(tile.sums16[3][first / 16], sum);
                EXPECT_LE(magnitude, most_magnitude);
            }
            for (int n = 0; n < columns / 32; ++n)
                EXPECT_EQ(tile.sums32[3][n], tile.sums16[3][2 * n] + tile.sums16[3][2 * n + 1]);
            ++tokens;
            if (scale > most / rounding.largest * (1 + 1e-6)) ++limited_by_sums;
        }
    };
    for (const test::Machine& machine : test::machines()) {
        SCOPED_TRACE(machine.variant);
        const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (const test::Rounding& rounding : test::roundings(isa)) expect_room(isa, rounding);
    }
    // Both limits were met.
    EXPECT_GT(limited_by_sums, tokens / 4);
    EXPECT_LT(limited_by_sums, tokens * 3 / 4);
}

// A token and many are rounded alike.
TEST(CpuBlocks256, RowsAndTilesHaveTheSameCodes) {
    std::mt19937 random(4);
    auto expect_same = [&](const kernels::cpu::Isa& isa, const test::Rounding& rounding) {
        for (float middle : {0.0f, 1.0f, 2.0f, 4.0f}) {
            const std::vector<float> x = row_about(middle, random);
            const kernels::cpu::Q8Row at = kernels::cpu::q8_row(columns, columns);
            std::vector<uint8_t> row(size_t(at.bytes));
            rounding.quantize(x.data(), columns, columns, row.data());
            Q8Tile tile;
            rounding.place(x.data(), columns, columns, reinterpret_cast<uint8_t*>(&tile), 0);
            for (int i = 0; i < columns; ++i)
                ASSERT_EQ(int8_t(row[size_t(i)]), test::code_of(tile, 0, i, isa));
            float scale;
            std::memcpy(&scale, &row[size_t(at.scales)], sizeof scale);
            EXPECT_EQ(scale, tile.scales[0]);
        }
    };
    for (const test::Machine& machine : test::machines()) {
        const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (const test::Rounding& rounding : test::roundings(isa)) expect_same(isa, rounding);
    }
}

// Even of numbers that have no inverse.
TEST(CpuBlocks256, TinyTokensGiveNextToNothing) {
    std::mt19937 random(5);
    for (const test::Machine& machine : test::machines())
        for (float size : {1e-28f, 1e-31f, 1e-36f, 1e-37f, 1e-38f, 1e-40f, 1e-44f, 0.0f}) {
            SCOPED_TRACE(machine.variant + " " + std::to_string(std::log10(size)));
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            std::vector<float> x = row_about(0, random);
            for (float& value : x) value *= size;
            Q8Tile tile;
            isa.place(x.data(), columns, columns, reinterpret_cast<uint8_t*>(&tile), 0);
            for (int i = 0; i < columns; ++i)
                ASSERT_LE(std::abs(double(test::code_of(tile, 0, i, isa)) * tile.scales[0] -
                                   x[size_t(i)]),
                          std::max(size / 50, 5e-30f));
            for (int16_t sum : tile.sums16[0]) EXPECT_TRUE(size == 1e-28f || sum == 0);
        }
}

}  // namespace
}  // namespace tandem
