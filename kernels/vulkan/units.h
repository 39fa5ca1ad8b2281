// The numbers of gated units in shaders/units.glsl.
#pragma once

#include <cstdint>
#include <string_view>

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

inline uint32_t gated_unit(std::string_view activation) {
    if (activation == "silu") return 0;
    if (activation == "gelu") return 1;
    check(activation == "clamped_swiglu", "a gated unit is silu, gelu or clamped_swiglu");
    return 2;
}

}  // namespace tandem::kernels::vulkan
