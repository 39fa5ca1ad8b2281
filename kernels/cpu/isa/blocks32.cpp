// Matrix kernels of the types with blocks of 32 elements. Packed blocks hold their fields one after
// another, each interleaved over the rows (packing.cpp).
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

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
    // d, codes [16]
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
    // d, m, codes [16]
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
    // d, fifth bits [4], codes [16]
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
    // d, m, fifth bits [4], codes [16]
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
    // d, codes [32]
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
    // d, codes [16]
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 2 * lanes, table = biased(table16(nonlinear.level))](int j) {
            return lookup_nibbles(table, q, j);
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct MXFP4 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 17, zero = 12, levels = 25;
    static constexpr bool is_signed = false, by_quads = true;
    // e, codes [16]
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        // Twice the E2M1 values, from -12 to 12, moved up by 12.
        static constexpr int8_t values[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                              12, 11, 10, 9,  8,  6,  4,  0};
        return
            [q = p + lanes, table = table16(values)](int j) { return lookup_nibbles(table, q, j); };
    }
    Scales scales(int) const {
        // The scale is 2^(e - 128): the exponent field is e - 1, below which lie two subnormals.
        I e = load_u8(p);
        I small = select_less(e, splat(1), splat(0x00200000), splat(0x00400000));
        I normal = shift_left(add(e, splat(-1)), 23);
        return {as_float(select_less(e, splat(2), small, normal))};
    }
};

}  // namespace

extern const Matrix q4_0 = kernels_of<Q4_0>;
extern const Matrix q4_1 = kernels_of<Q4_1>;
extern const Matrix q5_0 = kernels_of<Q5_0>;
extern const Matrix q5_1 = kernels_of<Q5_1>;
extern const Matrix q8_0 = kernels_of<Q8_0>;
extern const Matrix iq4_nl = kernels_of<IQ4_NL>;
extern const Matrix mxfp4 = kernels_of<MXFP4>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
