// One number to one number:
//
//     scale       y = factor x
//     exp         y = e^x
//     sigmoid     y = 1 / (1 + e^-x)
//     softplus    y = ln(1 + e^x) = max(0, x) + ln(1 + e^-|x|)
//     soft_cap    y = cap tanh(x / cap)
#include <initializer_list>

#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// ln(1 + x) of 0 <= x <= 1 within 2 units in the last place: 2 artanh s, s = x / (2 + x) up to 1/3.
inline F log_of_1_and(F x) {
    const F s = div(x, add(x, splat(2.0f))), z = mul(s, s);
    F p = splat(2.0f / 15);
    for (const float next : {2.0f / 13, 2.0f / 11, 2.0f / 9, 2.0f / 7, 2.0f / 5, 2.0f / 3, 2.0f})
        p = fma(p, z, splat(next));
    return mul(p, s);
}

}  // namespace

void scale(const float* x, float* y, int64_t count, float factor) {
    map({x}, y, count, [=](F value) { return mul(value, splat(factor)); });
}

// As a square, since the vectors' e^x ends before the range of floats does.
void exp(const float* x, float* y, int64_t count, float) {
    map({x}, y, count, [](F value) {
        const F root = exp(mul(value, splat(0.5f)));
        return add(mul(root, root), zero_if_number(value));
    });
}

void sigmoid(const float* x, float* y, int64_t count, float) {
    map({x}, y, count,
        [](F value) { return add(gated(splat(1.0f), value), zero_if_number(value)); });
}

void softplus(const float* x, float* y, int64_t count, float) {
    map({x}, y, count, [](F value) {
        return add(max(zero(), value), log_of_1_and(exp(sub(zero(), abs(value)))));
    });
}

void soft_cap(const float* x, float* y, int64_t count, float cap) {
    map({x}, y, count, [=](F value) { return capped(value, cap); });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
