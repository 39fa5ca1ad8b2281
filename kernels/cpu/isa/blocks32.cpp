// Matrix kernels of the types with blocks of 32 or 64 elements, but for Q2_0. Packed blocks hold
// their fields one after another, each interleaved over the rows (packing.cpp). Above each type
// stands what a weight x is, of a code q.
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Adds bit 4 to codes of quad j from a dword per row that has one bit per element.
[[gnu::always_inline]] inline I with_fifth_bits(I codes, I high, int j) {
    return or_where(codes, repeat_byte(high, j / 2), quad_bits(j), 16);
}

// x = d (q - 8)
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

// x = d q + m
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

// x = d (q - 16)
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

// x = d q + m
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

// x = d (q - 32)
struct Q6_0 {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 26, zero = 0, levels = 33;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // d, two high bits of elements k, k + 16, k + 8 and k + 24 in byte k [8], low 4 bits [16]
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int) const {
        return [q = p + 10 * lanes, h = p + 2 * lanes](int j) {
            constexpr int places[] = {0, 4, 2, 6};
            const I code = bit_or(nibbles(q, j), move_bits(dword(h, j % 2), 2, places[j / 2], 4));
            return biased(add_bytes(code, splat_bytes(-32)));
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

// x = d q
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

// x = d L[q], of the levels L in gguf/quants/nonlinear.h
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

// F: twice the E2M1 values, from -12 to 12, which `values` has moved up by `zero`. Scales are
// halved for that.
struct FourBits {
    static constexpr int zero = 12, levels = 25;
    static constexpr bool is_signed = false, by_quads = true;
    static constexpr int8_t values[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                          12, 11, 10, 9,  8,  6,  4,  0};
};

// x = 2^(e - 128) F[q]
struct MXFP4 : FourBits {
    using Scales = Scale;
    static constexpr int block = 32, bytes = 17;
    // e, codes [16]
    const uint8_t* p;

    explicit MXFP4(const uint8_t* at) : p(at) {}
    [[gnu::always_inline]] auto codes(int) const {
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

// x = S F[q]
struct NVFP4 : FourBits {
    using Scales = Scale16;
    static constexpr int block = 64, bytes = 36;
    static constexpr bool seldom = true;
    // scales [4], 4 x codes [8] with the first half of 16 in the low nibbles
    const uint8_t* p;
    I packed;

    explicit NVFP4(const uint8_t* at) : p(at), packed(load(p)) {}
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (4 + 16 * run) * lanes, table = table16(values)](int j) {
            return lookup_nibbles(table, dword(q, j / 4 * 2 + j % 2), j % 4 >= 2);
        };
    }
    // Half of the E4M3 number without a sign, of which those of zero and NaN are zero.
    static F scale_of(I bits) {
        const I seven = bit_and(bits, splat(0x7f));
        const F subnormal = mul(to_float(seven), splat(0x1p-10f));
        const I normal = add(shift_left(seven, 20), splat((127 - 7 - 1) << 23));
        const I scale = select_less(seven, splat(8), as_int(subnormal), normal);
        return as_float(select_less(bit_xor(bits, splat(0x7f)), splat(1), splat(0), scale));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s;
        for (int h = 0; h < 2; ++h) s.scales[h] = scale_of(field(packed, 16 * run + 8 * h, 8));
        return s;
    }
};

}  // namespace

extern const MatrixKernels q4_0 = kernels_of<Q4_0>;
extern const MatrixKernels q4_1 = kernels_of<Q4_1>;
extern const MatrixKernels q5_0 = kernels_of<Q5_0>;
extern const MatrixKernels q5_1 = kernels_of<Q5_1>;
extern const MatrixKernels q6_0 = kernels_of<Q6_0>;
extern const MatrixKernels q8_0 = kernels_of<Q8_0>;
extern const MatrixKernels iq4_nl = kernels_of<IQ4_NL>;
extern const MatrixKernels mxfp4 = kernels_of<MXFP4>;
extern const MatrixKernels nvfp4 = kernels_of<NVFP4>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
