// Angles of rotary position embedding as shaders read them (shaders/turns.glsl).
#pragma once

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Puts those of a rope into device memory, as 64-bit fractions of a turn, one for each pair. Throws
// Error where one is not finite.
Address keep_turns(const Operation& rope, const Site& site);

}  // namespace tandem::kernels::vulkan
