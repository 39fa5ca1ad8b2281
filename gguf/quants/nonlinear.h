// The 16 levels of IQ4_NL and IQ4_XS, denser near zero.
#pragma once

#include <array>
#include <cstdint>

namespace tandem::gguf {

constexpr std::array<int8_t, 16> nonlinear_levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                     1,    13,   25,  38,  53,  69,  89,  113};

}  // namespace tandem::gguf
