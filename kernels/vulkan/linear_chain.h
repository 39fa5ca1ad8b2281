// What follows a product and can be done with it, before the result is written: an addition, or a
// second product of the same operand and the gated unit of both.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace tandem::kernels::vulkan {

struct LinearChain {
    size_t length = 1;   // operations
    uint32_t kind = 0;   // as in shaders/linear.glsl
    size_t product = 0;  // the operation whose matrix is the first
    size_t second = 0;   // the one with the addend or the second matrix, and which operand that is;
    size_t operand = 0;  // 0 of operation 0: there is none
};

// `ahead` begins with a linear.
LinearChain linear_chain(std::span<const Operation> ahead);

}  // namespace tandem::kernels::vulkan
