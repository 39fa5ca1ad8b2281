// What follows a product and can be done with it, before the result is written: additions, or a
// second product of the same operand and the gated unit of both.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace tandem::kernels::vulkan {

struct LinearChain {
    size_t length = 1;      // operations
    uint32_t kind = 0;      // as in shaders/linear_kinds.glsl
    size_t product = 0;     // the operation whose matrix is the first
    uint32_t matrices = 1;  // that are multiplied
    // The second matrix, or what is added, one after the other.
    const Operand* others[2] = {};
};

// `ahead` begins with a linear; the chain points into it.
LinearChain linear_chain(std::span<const Operation> ahead);

}  // namespace tandem::kernels::vulkan
