// Matrix kernels of the floating point types: one fused multiply-add per element and token. Packed
// groups hold element k of all rows side by side.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

struct Single {
    static constexpr int bytes = 4;
    static F get(const uint8_t* p) { return load_f32(p); }
};
struct Half {
    static constexpr int bytes = 2;
    static F get(const uint8_t* p) { return load_f16(p); }
};
struct Brain {
    static constexpr int bytes = 2;
    static F get(const uint8_t* p) { return load_bf16(p); }
};

template <class Type, int T>
inline void float_tile(const uint8_t* weights, int64_t columns, const uint8_t* const (&x)[T],
                       F (&y)[T]) {
    // Two sums per token, so that one addition need not wait for the one before.
    F even[T], odd[T];
    for (int t = 0; t < T; ++t) even[t] = odd[t] = zero();
    int64_t k = 0;
    for (; k + 2 <= columns; k += 2) {
        const uint8_t* p = weights + k * Type::bytes * lanes;
        __builtin_prefetch(p + 4096);
        F first = Type::get(p), second = Type::get(p + Type::bytes * lanes);
        for (int t = 0; t < T; ++t) {
            const float* a = reinterpret_cast<const float*>(x[t]) + k;
            even[t] = fma(first, splat(a[0]), even[t]);
            odd[t] = fma(second, splat(a[1]), odd[t]);
        }
    }
    for (int t = 0; t < T; ++t) {
        if (k < columns)
            even[t] = fma(Type::get(weights + k * Type::bytes * lanes),
                          splat(reinterpret_cast<const float*>(x[t])[k]), even[t]);
        y[t] = add(even[t], odd[t]);
    }
}

template <class Type>
void multiply_floats(const Product& product) {
    constexpr int most = lanes == 16 ? 8 : 4;
    for_tiles<most>(product, product.columns * Type::bytes * lanes,
                    [&]<int T>(int64_t group, int64_t token, const uint8_t* weights) {
                        run_tile<T>(product, group, token, weights,
                                    [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[T]) {
                                        float_tile<Type, T>(w, product.columns, x, y);
                                    });
                    });
}

}  // namespace

extern const Matrix f32{0, multiply_floats<Single>};
extern const Matrix f16{0, multiply_floats<Half>};
extern const Matrix bf16{0, multiply_floats<Brain>};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
