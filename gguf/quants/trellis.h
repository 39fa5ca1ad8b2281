// The generator of the IQ*_KT types: a linear congruential step, of which four fields of 6 bits add
// up to nearly normal noise around `trellis_middle`. Seeds are codes plus a number.
#pragma once

#include <cstdint>

namespace tandem::gguf {

inline constexpr uint32_t trellis_first_seed = 4096, trellis_factor = 0xCBAC1FED;
inline constexpr uint32_t trellis_fields = 0x3F3F3F3F;
inline constexpr int trellis_middle = 126;

}  // namespace tandem::gguf
