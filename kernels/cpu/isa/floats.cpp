// Matrix kernels of the floating point types: one fused multiply-add per element and token, and in
// prompts of BF16 and F16 a dot product of two elements where there is one. Packed groups hold
// element k of all rows side by side.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix_units.h"
#include "kernels/cpu/isa/q16_dots.h"
#include "kernels/cpu/isa/row_walk.h"
#include "kernels/cpu/isa/word_dots.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

#if defined(__AMX_BF16__)
// Rounded to bf16, halves away from zero, in the upper half of every lane; the rest is left over.
// What is no number gets a bit that stays: rounding could make a zero of it.
[[gnu::always_inline]] inline I rounded_bf16(F x) {
    const I bits = as_int(x), infinity = splat(0x7f800000);
    const I quiet = bit_or(bits, splat(0x400000));
    return select_less(infinity, as_int(abs(x)), quiet, add(bits, splat(0x8000)));
}
// Two numbers side by side in every lane.
[[gnu::always_inline]] inline I pair_bf16(F even, F odd) {
    return bit_or(bit_and(rounded_bf16(odd), splat(int32_t(0xffff0000))),
                  shift_right(rounded_bf16(even), 16));
}
// What pair_bf16() lost.
[[gnu::always_inline]] inline I pair_rest(F even, F odd, I pair) {
    return pair_bf16(sub(even, as_float(shift_left(pair, 16))),
                     sub(odd, as_float(bit_and(pair, splat(int32_t(0xffff0000))))));
}

// Calls visit(offset in the step, even, odd) for each two columns of a group, with zeros up to a
// multiple of 32.
template <class Type, typename Visit>
inline void each_pair(const uint8_t* group, int64_t first, int64_t last, Visit visit) {
    constexpr int64_t column = Type::bytes * lanes;
    int64_t at = 0;
    for (int64_t k = first; k < (last + 31) / 32 * 32; k += 2, at += 4 * lanes) {
        const uint8_t* p = group + k * column;
        if (k < last) prefetch_line<tile_tokens>(p);
        visit(at, k < last ? Type::get(p) : zero(), k + 1 < last ? Type::get(p + column) : zero());
    }
}
#endif

struct Single {
    static constexpr int block = 1, bytes = 4;
    static F get(const uint8_t* p) { return load_f32(p); }
};
struct Half {
    static constexpr int block = 1, bytes = 2;
    static constexpr int q16_block = 32;
    static constexpr float least = 0x1p-24f;
    static F get(const uint8_t* p) { return load_f16(p); }
#if defined(__AMX_BF16__)
    // The bits that bf16 has no room for go to the rest.
    static void unpack(const uint8_t* group, int64_t first, int64_t last, uint8_t* panel,
                       uint8_t* rest) {
        each_pair<Half>(group, first, last, [&](int64_t at, F even, F odd) {
            const I pair = pair_bf16(even, odd);
            store(panel + at, pair);
            store(rest + at, pair_rest(even, odd, pair));
        });
    }
#endif
};
struct Brain {
    static constexpr int block = 1, bytes = 2;
    static constexpr int q16_block = crosses ? 128 : 32;
    static constexpr float least = 0;
    static F get(const uint8_t* p) { return load_bf16(p); }
#if defined(__AMX_BF16__)
    static void unpack(const uint8_t* group, int64_t first, int64_t last, uint8_t* panel,
                       uint8_t*) {
        if (last - first == 32)
            for (int64_t pair = 0; pair < 16; ++pair) {
                const uint8_t* p = group + (first + 2 * pair) * 2 * lanes;
                prefetch_line<tile_tokens>(p);
                store(panel + pair * 4 * lanes, pair_halves(load(p)));
            }
        else
            each_pair<Brain>(group, first, last, [&](int64_t at, F even, F odd) {
                store(panel + at, pair_bf16(even, odd));
            });
    }
#endif
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
        prefetch_line<T>(p);
        if constexpr (2 * Type::bytes * lanes > 64) prefetch_line<T>(p + 64);
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
    constexpr int most = lanes == 16 ? 8 : 4;  // two sums each: half of all registers
    for_tiles<most, false, 1>(
        product, product.columns * Type::bytes * lanes,
        [&]<int T>(int64_t group, int64_t, int64_t token, const uint8_t* weights) {
            run_tile<1, T>(product, group, token, weights,
                           [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[1][T]) {
                               float_tile<Type, T>(w, product.columns, x, y[0]);
                           });
        });
}

// A word is a float.
template <class Type>
struct Floats {
    static constexpr int in_word = 1, block = 1, bytes = Type::bytes;

    static void unpack(const uint8_t* weights, int64_t width, uint8_t* words) {
        for (int64_t k = 0; k < width; ++k)
            store(words + k * 4 * lanes, as_int(Type::get(weights + k * bytes * lanes)));
    }
    static F add_product(F sum, F row, F token) { return fma(row, token, sum); }
};

// In 16-bit integers, where that may be the best there is; and by crossed products.
#if defined(__AMX_BF16__)
constexpr bool in_integers = false;
#else
constexpr bool in_integers = fast_pairs;
#endif
template <class Type>
constexpr auto multiply_integers() -> void (*)(const Product&) {
    if constexpr (in_integers) return multiply_panels<Q16Dots<Type>>;
    return nullptr;
}
template <class Type>
constexpr auto crossed_integers() -> void (*)(const Product&) {
    if constexpr (in_integers && crosses) return multiply_panels<Q16Dots<Adding<Type>>>;
    return nullptr;
}

#if defined(__AVX512BF16__) && !defined(__AMX_BF16__)
// A word is a pair; the last column may be alone.
struct Pairs {
    static constexpr int in_word = 2, block = 1, bytes = 2;

    static void unpack(const uint8_t* weights, int64_t width, uint8_t* words) {
        int64_t k = 0;
        for (; k + 2 <= width; k += 2)
            store(words + k * 2 * lanes, pair_halves(load(weights + k * 2 * lanes)));
        if (k < width) store(words + k * 2 * lanes, load_u16(weights + k * 2 * lanes));
    }
    static F add_product(F sum, F row, F token) { return dot_pairs(sum, row, token); }
};
constexpr Matrix many_of_bf16{.multiply_bf16 = multiply_panels<WordDots<Pairs>>};
#else
constexpr Matrix many_of_bf16{.multiply_bf16 = multiply_units<Brain, 1>,
                              .multiply_q16 = multiply_integers<Brain>()};
#endif

template <class Type>
constexpr auto* multiply_float_tiles = multiply_panels<WordDots<Floats<Type>>>;

}  // namespace

extern const Matrix f32{.multiply_rows = multiply_floats<Single>,
                        .multiply_tiles = multiply_float_tiles<Single>};
extern const Matrix f16{.multiply_rows = multiply_floats<Half>,
                        .multiply_tiles = multiply_float_tiles<Half>,
                        .multiply_bf16 = multiply_units<Half, 2>,
                        .multiply_q16 = multiply_integers<Half>(),
                        .q16_block = in_integers ? Half::q16_block : 0,
                        .multiply_crossed = crossed_integers<Half>()};
extern const Matrix bf16{.multiply_rows = multiply_floats<Brain>,
                         .multiply_tiles = multiply_float_tiles<Brain>,
                         .multiply_bf16 = many_of_bf16.multiply_bf16,
                         .multiply_q16 = many_of_bf16.multiply_q16,
                         .q16_block = in_integers ? Brain::q16_block : 0,
                         .multiply_crossed = crossed_integers<Brain>()};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
