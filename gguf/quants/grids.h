// The codebooks of the types IQ1_*, IQ2_* and IQ3_*: points of 8 or 4 small integers. Blocks hold
// indices into them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::gguf {

using Octet = std::array<int8_t, 8>;
using Quad = std::array<int8_t, 4>;

// Levels of points, by the numbers that codebooks are stored in.
using Levels = std::array<int8_t, 8>;
inline constexpr Levels iq1_levels{-1, 0, 1}, iq2_levels{8, 25, 43};
inline constexpr Levels iq3xxs_levels{4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr Levels iq3s_levels{1, 3, 5, 7, 9, 11, 13, 15};

extern const std::array<Octet, 256> iq2xxs_grid;
extern const std::array<Octet, 512> iq2xs_grid;
extern const std::array<Octet, 1024> iq2s_grid;
extern const std::array<Quad, 256> iq3xxs_grid;
extern const std::array<Quad, 512> iq3s_grid;
extern const std::array<Octet, 2048> iq1s_grid;

// The same as numbers of levels, in two bytes: of the first and of the second half of a point's
// elements, 2 bits for each element of an octet and 3 of a quad, the first in the lowest.
template <size_t count>
struct Halves {
    static constexpr size_t size = count;
    std::array<uint8_t, count> first, second;
};

extern const Halves<256> iq2xxs_grid_halves;
extern const Halves<512> iq2xs_grid_halves;
extern const Halves<1024> iq2s_grid_halves;
extern const Halves<256> iq3xxs_grid_halves;
extern const Halves<512> iq3s_grid_halves;

// The same of points that ascend by their second halves, of which 16 neighbours have two at most:
// the one of the first, how many have it, and the other.
template <size_t count>
struct SteppedHalves {
    static constexpr size_t size = count;
    std::array<uint8_t, count> first;
    std::array<uint8_t, count / 16> before, step, after;
};

extern const SteppedHalves<2048> iq1s_grid_halves;

}  // namespace tandem::gguf
