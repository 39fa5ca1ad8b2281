// The codebooks as points and as bytes of halves of points say the same.
#include "gguf/quants/grids.h"

#include <gtest/gtest.h>

namespace tandem::gguf {
namespace {

// What the bytes of a point's halves stand for.
template <size_t length>
std::array<int8_t, length> point_of(uint8_t first, uint8_t second, const Levels& levels) {
    constexpr unsigned bits = length == 8 ? 2 : 3;
    std::array<int8_t, length> point;
    for (size_t k = 0; k < length; k++) {
        const unsigned half = k < length / 2 ? first : second;
        point[k] = levels[half >> bits * (k % (length / 2)) & ((1u << bits) - 1)];
    }
    return point;
}

template <size_t length, size_t count>
void expect_points(const std::array<std::array<int8_t, length>, count>& points,
                   const Halves<count>& halves, const Levels& levels) {
    for (size_t i = 0; i < count; i++)
        EXPECT_EQ(point_of<length>(halves.first[i], halves.second[i], levels), points[i]) << i;
}

TEST(Grids, halves_are_those_of_the_points) {
    expect_points(iq2xxs_grid, iq2xxs_grid_halves, iq2_levels);
    expect_points(iq2xs_grid, iq2xs_grid_halves, iq2_levels);
    expect_points(iq2s_grid, iq2s_grid_halves, iq2_levels);
    expect_points(iq3xxs_grid, iq3xxs_grid_halves, iq3xxs_levels);
    expect_points(iq3s_grid, iq3s_grid_halves, iq3s_levels);
}

TEST(Grids, second_halves_change_at_their_step) {
    const auto& halves = iq1s_grid_halves;
    for (size_t i = 0; i < iq1s_grid.size(); i++) {
        const auto& seconds = i % 16 < halves.step[i / 16] ? halves.before : halves.after;
        EXPECT_EQ(point_of<8>(halves.first[i], seconds[i / 16], iq1_levels), iq1s_grid[i]) << i;
    }
}

}  // namespace
}  // namespace tandem::gguf
