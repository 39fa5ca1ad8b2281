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

// The points whose elements have signs of their own, as numbers of levels: 2 bits for each element
// of an octet and 3 of a quad, the first in the lowest.
extern const std::array<uint16_t, 256> iq2xxs_grid_codes;
extern const std::array<uint16_t, 512> iq2xs_grid_codes;
extern const std::array<uint16_t, 1024> iq2s_grid_codes;
extern const std::array<uint16_t, 256> iq3xxs_grid_codes;
extern const std::array<uint16_t, 512> iq3s_grid_codes;

}  // namespace tandem::gguf
