// Matrix kernels of the floating point types. Packed groups hold element k of all rows side by
// side. For a few tokens:
//
//     for (row r, token t) {
//         float even = 0, odd = 0;    // two, so that one addition need not wait for the one before
//         for (columns k and k + 1) {
//             even = fma(weight(r, k), x(t, k), even);
//             odd = fma(weight(r, k + 1), x(t, k + 1), odd);
//         }
//         y = even + odd;
//     }
//
// Of a short group (short_bf16.h), the others are added at the end. Zeros stand in their place, so
// that an infinite x gives no number there, where it would be infinite in a prompt.
//
// More tokens go by float_dots.h, and where there are instructions for it F16 and BF16 by
// q16_dots.h or matrix_units.h.
#include "kernels/cpu/isa/float_dots.h"
#include "kernels/cpu/isa/float_group.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix_units.h"
#include "kernels/cpu/isa/q16_dots.h"
#include "kernels/cpu/isa/row_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

#if defined(__AMX_BF16__)
// Calls visit(offset in the step, even, odd) for each two columns of a step of a group, with zeros
// after the last.
template <class Type, typename Visit>
[[gnu::always_inline]] inline void each_pair(const uint8_t* step, int64_t columns, Visit visit) {
    constexpr int64_t column = Type::bytes * lanes;
    for (int64_t k = 0; k < 32; k += 2) {
        const uint8_t* p = step + k * column;
        if (k < columns) prefetch_line<tile_tokens>(p);
        visit(k * 2 * lanes, k < columns ? Type::get(p) : zero(),
              k + 1 < columns ? Type::get(p + column) : zero());
    }
}
#endif

// Weights of groups that float_group.h reads; get() loads `lanes` of them.
template <class Type, int of_bytes>
struct OfGroups {
    static constexpr int block = 1, bytes = of_bytes;
    static int64_t group_bytes(const uint8_t* matrix) { return FloatGroup(matrix).next(); }
    static const uint8_t* at(const uint8_t* group, int64_t column) {
        return FloatGroup(group).at(column, bytes);
    }
};
struct F32 : OfGroups<F32, 4> {
    static F get(const uint8_t* p) { return load_f32(p); }
};
struct F16 : OfGroups<F16, 2> {
    static constexpr int q16_block = 32;
    static constexpr float least = 0x1p-24f;
    static F get(const uint8_t* p) { return load_f16(p); }
#if defined(__AMX_BF16__)
    static bool has_rest(const uint8_t* group) { return !FloatGroup(group).is_short(); }
    // The three bits that bf16 has no room for are the rest.
    static void unpack(const uint8_t* group, int64_t first, int64_t columns, uint8_t* panel,
                       uint8_t* rest) {
        const FloatGroup packed(group);
        if (packed.is_short()) return packed.store_pairs(first, columns, panel);
        const uint8_t* const step = packed.at(first, bytes);
        auto lost = [](F x) { return sub(x, as_float(bit_and(as_int(x), splat(~0xffff)))); };
        auto put = [&](int64_t at, F even, F odd) {
            store(panel + at, pair_cut(even, odd));
            store(rest + at, pair_cut(lost(even), lost(odd)));
        };
        if (columns == 32)
            each_pair<F16>(step, 32, put);
        else
            each_pair<F16>(step, columns, put);
    }
#endif
};
struct BF16 : OfGroups<BF16, 2> {
    static constexpr int q16_block = crosses ? 128 : 32;
    static constexpr float least = 0;
    static F get(const uint8_t* p) { return load_bf16(p); }
#if defined(__AMX_BF16__)
    static void unpack(const uint8_t* group, int64_t first, int64_t columns, uint8_t* panel,
                       uint8_t*) {
        const FloatGroup packed(group);
        if (packed.is_short()) return packed.store_pairs(first, columns, panel);
        const uint8_t* const step = packed.at(first, bytes);
        if (columns == 32)
            for (int64_t pair = 0; pair < 16; ++pair) {
                const uint8_t* p = step + pair * 4 * lanes;
                prefetch_line<tile_tokens>(p);
                store(panel + pair * 4 * lanes, pair_halves(load(p)));
            }
        else
            each_pair<BF16>(step, columns, [&](int64_t at, F even, F odd) {
                store(panel + at, pair_cut(even, odd));
            });
    }
#endif
};

template <class Type, int T>
inline void float_rows(const uint8_t* weights, int64_t columns, const uint8_t* const (&x)[T],
                       F (&y)[T]) {
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

// The same of a short group.
template <int T>
inline void short_rows(const FloatGroup& group, int64_t columns, const uint8_t* const (&x)[T],
                       F (&y)[T]) {
    F even[T], odd[T];
    for (int t = 0; t < T; ++t) even[t] = odd[t] = zero();
    constexpr int64_t step = short_bytes(lanes, short_columns);
    const uint8_t* p = group.short_at(0);
    for (int64_t k = 0; k < columns; k += short_columns, p += step) {
        for (int64_t line = 0; line < step; line += 64) prefetch_unpacked(p + line);
        group.each_two(p, [&](int n, I pairs) [[gnu::always_inline]] {
            const F first = first_of(pairs), second = second_of(pairs);
            for (int t = 0; t < T; ++t) {
                const float* a = reinterpret_cast<const float*>(x[t]) + k + 2 * n;
                even[t] = fma(first, splat(a[0]), even[t]);
                odd[t] = fma(second, splat(a[1]), odd[t]);
            }
        });
    }
    alignas(64) float others[T][lanes] = {};
    for (const OtherWeight* other = group.others(); other < group.others_end(); ++other)
        for (int t = 0; t < T; ++t)
            others[t][other->place % lanes] +=
                other->value * reinterpret_cast<const float*>(x[t])[other->place / lanes];
    for (int t = 0; t < T; ++t) y[t] = add(add(even[t], odd[t]), load_f32(others[t]));
}

template <class Type>
void multiply_floats(const Product& product) {
    constexpr int most = lanes == 16 ? 8 : 4;  // two sums each: half of all registers
    for_rows<most, false, 1>(
        product, group_bytes_of<Type>(product),
        [&]<int T>(int64_t group, int64_t, int64_t token, const uint8_t* weights) {
            run_rows<1, T>(product, group, token, weights,
                           [&](const uint8_t* w, const uint8_t* const(&x)[T], F(&y)[1][T]) {
                               if (const FloatGroup packed(w); packed.is_short())
                                   return short_rows<T>(packed, product.columns, x, y[0]);
                               float_rows<Type, T>(column_at<Type>(w, 0), product.columns, x, y[0]);
                           });
        });
}

// Whether prompts may be multiplied in 16-bit integers; in floats where neither these are fast nor
// there are matrix units.
constexpr bool in_integers = fast_pairs && !matrix_units, in_floats = !fast_pairs && !matrix_units;

template <class Type>
constexpr Multiply adding_integers = panels_if<(in_integers && crosses), Q16Dots<Adding<Type>>>();

}  // namespace

extern const MatrixKernels f32{.multiply_rows = multiply_floats<F32>,
                               .multiply_tiles = multiply_panels<FloatDots<F32>>};
extern const MatrixKernels f16{.multiply_rows = multiply_floats<F16>,
                               .multiply_tiles = panels_if<in_floats, FloatDots<F16>>(),
                               .multiply_bf16 = multiply_units<F16, 2>,
                               .multiply_q16 = panels_if<in_integers, Q16Dots<F16>>(),
                               .q16_block = in_integers ? F16::q16_block : 0,
                               .multiply_adding = adding_integers<F16>};
extern const MatrixKernels bf16{.multiply_rows = multiply_floats<BF16>,
                                .multiply_tiles = panels_if<in_floats, FloatDots<BF16>>(),
                                .multiply_bf16 = multiply_units<BF16, 1>,
                                .multiply_q16 = panels_if<in_integers, Q16Dots<BF16>>(),
                                .q16_block = in_integers ? BF16::q16_block : 0,
                                .multiply_adding = adding_integers<BF16>};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
