// Loops over arrays: by vectors, and one by one over what is left.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <typename Vector, typename Scalar>
inline void each(int64_t count, Vector vector, Scalar scalar) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) vector(i);
    for (; i < count; ++i) scalar(i);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
