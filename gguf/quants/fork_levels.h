// The uneven levels of the IQ*_K and IQ*_KS types. Tables have a shifted half, which a group may
// choose, but for IQ6_K, whose levels are moved by 1, and IQ2_KL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gguf/quants/nonlinear.h"

namespace tandem::gguf {

template <size_t count>
constexpr std::array<int8_t, 2 * count> with_shifted(const std::array<int8_t, count>& levels,
                                                     int shift) {
    std::array<int8_t, 2 * count> both{};
    for (size_t i = 0; i < count; i++) {
        both[i] = levels[i];
        both[count + i] = int8_t(levels[i] + shift);
    }
    return both;
}

constexpr auto levels2 = with_shifted<4>({-31, -13, 1, 17}, 5);
constexpr auto levels3 = with_shifted<8>({-63, -40, -23, -10, 1, 13, 28, 47}, 4);
constexpr auto levels4 = with_shifted(nonlinear_levels, 4);
constexpr auto levels5 = with_shifted<32>(
    {-126, -114, -103, -92, -83, -74, -65, -57, -50, -43, -36, -30, -24, -18, -12, -6,
     -1,   5,    11,   17,  23,  29,  36,  43,  51,  59,  68,  77,  87,  97,  109, 121},
    2);

// IQ6_K fits its levels by a cubic, and moves them by a whole number.
constexpr int shift6 = 1;
constexpr auto levels6 = [] {
    std::array<float, 64> levels{};
    for (int i = 0; i < 64; i++) {
        const auto c = float(i);
        levels[size_t(i)] = -127.0f + c * (6.2568f + c * (-0.11218f + c * 0.0011972f));
    }
    return levels;
}();

// Neighbouring elements of IQ2_KL share a code.
struct LevelPair {
    int8_t first;
    int8_t second;
};
constexpr LevelPair level_pairs[32] = {
    {-63, -23}, {-63, 13}, {-40, -63}, {-40, -10}, {-40, 13}, {-40, 47}, {-23, -40}, {-23, -23},
    {-23, 1},   {-23, 13}, {-23, 28},  {-10, -63}, {-10, 1},  {-10, 13}, {-10, 47},  {1, -23},
    {1, -10},   {1, 1},    {1, 13},    {1, 28},    {13, -40}, {13, -23}, {13, -10},  {13, 1},
    {13, 13},   {28, -63}, {28, -23},  {28, 1},    {28, 28},  {28, 47},  {47, -23},  {47, 13},
};

}  // namespace tandem::gguf
