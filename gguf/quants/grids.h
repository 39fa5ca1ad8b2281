// The codebooks of the types IQ1_*, IQ2_* and IQ3_*: points of 8 or 4 small integers. Blocks hold
// indices into them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::gguf {

using Octet = std::array<int8_t, 8>;
using Quad = std::array<int8_t, 4>;

extern const std::array<Octet, 256> iq2xxs_grid;
extern const std::array<Octet, 512> iq2xs_grid;
extern const std::array<Octet, 1024> iq2s_grid;
extern const std::array<Quad, 256> iq3xxs_grid;
extern const std::array<Quad, 512> iq3s_grid;
extern const std::array<Octet, 2048> iq1s_grid;

// Each point as the numbers of its levels, in 2 bits each of an octet and 3 of a quad, the first in
// the lowest.
extern const std::array<uint16_t, 256> iq2xxs_grid_codes;
extern const std::array<uint16_t, 512> iq2xs_grid_codes;
extern const std::array<uint16_t, 1024> iq2s_grid_codes;
extern const std::array<uint16_t, 256> iq3xxs_grid_codes;
extern const std::array<uint16_t, 512> iq3s_grid_codes;
extern const std::array<uint16_t, 2048> iq1s_grid_codes;

}  // namespace tandem::gguf
