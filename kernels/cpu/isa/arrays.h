// Loops over arrays.
#pragma once

#include <cstring>

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// By vectors, and one by one over what is left.
template <typename Vector, typename Scalar>
inline void each(int64_t count, Vector vector, Scalar scalar) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) vector(i);
    for (; i < count; ++i) scalar(i);
}

// y[i] = function(x[0][i], x[1][i]), or of one array. The last numbers go through vectors, too: the
// same bits wherever an array ends.
template <size_t inputs, typename Function>
inline void map(const float* const (&x)[inputs], float* y, int64_t count, Function function) {
    auto result = [&](const float* const(&from)[inputs], int64_t i) {
        if constexpr (inputs == 1)
            return function(load_f32(from[0] + i));
        else
            return function(load_f32(from[0] + i), load_f32(from[1] + i));
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(y + i, result(x, i));
    if (i == count) return;
    const size_t bytes = size_t(count - i) * sizeof(float);
    float last[inputs][lanes] = {}, results[lanes];
    const float* from[inputs];
    for (size_t n = 0; n < inputs; ++n) {
        std::memcpy(last[n], x[n] + i, bytes);
        from[n] = last[n];
    }
    store(results, result(from, 0));
    std::memcpy(y + i, results, bytes);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
