// Matrix kernels of the types with blocks of 32 elements. Packed blocks hold their fields one after
// another, each interleaved over the rows (packing.cpp).
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix_units.h"
#include "kernels/cpu/isa/panel_dots.h"
#include "kernels/cpu/isa/q16_dots.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Adds bit 4 to codes of quad j from a dword per row that has one bit per element.
[[gnu::always_inline]] inline I with_fifth_bits(I codes, I high, int j) {
    return or_where(codes, repeat_byte(high, j / 2), quad_bits(j), 16);
}

struct Q4_0 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 18, zero = 8, levels = 16;
    static constexpr bool is_signed = false, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 2 * lanes](int j) { return nibbles(q, j); };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct Q4_1 {
    using Scales = ScaleMin;
    static constexpr int block = 32, bytes = 20, zero = 0, levels = 16;
    static constexpr bool is_signed = false, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 4 * lanes](int j) { return nibbles(q, j); };
    }
    Scales scales(int) const { return {load_f16(p), load_f16(p + 2 * lanes)}; }
};

struct Q5_0 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 22, zero = 16, levels = 32;
    static constexpr bool is_signed = false, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 6 * lanes, high = load(p + 2 * lanes)](int j) {
            return with_fifth_bits(nibbles(q, j), high, j);
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct Q5_1 {
    using Scales = ScaleMin;
    static constexpr int block = 32, bytes = 24, zero = 0, levels = 32;
    static constexpr bool is_signed = false, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 8 * lanes, high = load(p + 4 * lanes)](int j) {
            return with_fifth_bits(nibbles(q, j), high, j);
        };
    }
    Scales scales(int) const { return {load_f16(p), load_f16(p + 2 * lanes)}; }
};

struct Q8_0 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 34, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 2 * lanes](int j) { return biased(dword(q, j)); };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct IQ4_NL {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 18, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 2 * lanes, table = table16(nonlinear_levels)](int j) {
            return biased(lookup(table, nibbles(q, j)));
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct MXFP4 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 17, zero = 12, levels = 25;
    static constexpr bool is_signed = false, by_quads = true;
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        // Twice the E2M1 values, from -12 to 12, moved up by 12.
        static constexpr int8_t values[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                              12, 11, 10, 9,  8,  6,  4,  0};
        return [q = p + lanes, table = table16(values)](int j) {
            return lookup(table, nibbles(q, j));
        };
    }
    Scales scales(int) const {
        // The scale is 2^(e - 128): the exponent field is e - 1, below which lie two subnormals.
        I e = load_u8(p);
        I small = select_less(e, splat(1), splat(0x00200000), splat(0x00400000));
        I normal = shift_left(add(e, splat(-1)), 23);
        return {as_float(select_less(e, splat(2), small, normal))};
    }
};

// Products with bytes of signed codes of 8 bits take longer than with 16 bits where their sums must
// be widened.
template <class Type>
constexpr auto multiply_wide() -> void (*)(const Product&) {
    if constexpr (sums_in_halves) return multiply_panels<Q16Dots<Type>>;
    return nullptr;
}

}  // namespace

extern const Matrix q4_0{32, multiply<Q4_0>, multiply_tiles<Q4_0>, multiply_units<Q4_0, 1>};
extern const Matrix q4_1{32, multiply<Q4_1>, multiply_tiles<Q4_1>, multiply_units<Q4_1, 1>};
extern const Matrix q5_0{32, multiply<Q5_0>, multiply_tiles<Q5_0>, multiply_units<Q5_0, 1>};
extern const Matrix q5_1{32, multiply<Q5_1>, multiply_tiles<Q5_1>, multiply_units<Q5_1, 1>};
extern const Matrix q8_0{32, multiply<Q8_0>, multiply_tiles<Q8_0>, multiply_units<Q8_0, 1>,
                         multiply_wide<Q8_0>()};
extern const Matrix iq4_nl{32, multiply<IQ4_NL>, multiply_tiles<IQ4_NL>, multiply_units<IQ4_NL, 1>,
                           multiply_wide<IQ4_NL>()};
extern const Matrix mxfp4{32, multiply<MXFP4>, multiply_tiles<MXFP4>, multiply_units<MXFP4, 1>};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
