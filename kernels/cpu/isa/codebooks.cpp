// Matrix kernels of IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S: blocks of 256
// elements, each 4 or 8 of them a point of a codebook (points.h). Packed blocks hold their fields
// one after another, each interleaved over the rows (packing.cpp). Above each type stands what a
// weight x is, of element k of its point p and the scale S of its 16 or 32 neighbours.
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"
#include "kernels/cpu/isa/points.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// d (n + 1/2)
[[gnu::always_inline]] inline F scale_of(F d, I n) {
    return fma(to_float(n), d, mul(d, splat(0.5f)));
}

// x = +-d / 4 (S + 1/2) p[k]
struct IQ2_XXS {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 66, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, 8 x {index[4], 4 x 7 signs and 4 bits of scale}
    const uint8_t* p;
    F d;

    explicit IQ2_XXS(const uint8_t* at) : p(at), d(mul(load_f16(p), splat(0.25f))) {}
    [[gnu::always_inline]] I rest(int run) const { return dword(p + 2 * lanes, 2 * run + 1); }
    [[gnu::always_inline]] Quads codes(int run) const {
        auto four = [&](int) { return Numbers<0>{dword(p + 2 * lanes, 2 * run)}; };
        return signed_points<iq2_xxs_book>(four, even_signs(rest(run)));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {scale_of(d, shift_right(rest(run), 28))};
    }
};

// Of 16 elements each, in 8 bits from `shift` on.
[[gnu::always_inline]] inline Scale16 scales_of_16(I packed, int shift, F d) {
    const I both = shift_right(packed, shift);
    Scale16 s;
    for (int h = 0; h < 2; ++h) s.scales[h] = scale_of(d, field(both, 4 * h, 4));
    return s;
}

// x = +-d / 4 (S + 1/2) p[k]
struct IQ2_XS {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 74, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, scales 4 bits [16], u16[32] with 9 bits of index and 7 signs
    const uint8_t* p;
    F d;
    I packed[2];  // scales

    explicit IQ2_XS(const uint8_t* at) : p(at), d(mul(load_f16(p), splat(0.25f))) {
        for (int i = 0; i < 2; ++i) packed[i] = dword(p + 2 * lanes, i);
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (10 + 8 * run) * lanes;
        const SignedNumbers numbers{dword(q, 0), dword(q, 1)};
        auto four = [&](int) { return numbers; };
        return signed_points<iq2_xs_book>(four, even_signs(numbers));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return scales_of_16(packed[run / 4], 8 * (run % 4), d);
    }
};

// x = +-d / 4 (S + 1/2) p[k]
struct IQ2_S {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 82, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, 2 high bits of index [32], scales 4 bits [16], 8 x {index[4], signs[4]}
    const uint8_t* p;
    F d;
    I above[2], packed[2];  // high bits, scales

    explicit IQ2_S(const uint8_t* at) : p(at), d(mul(load_f16(p), splat(0.25f))) {
        for (int i = 0; i < 2; ++i) {
            above[i] = dword(p + 2 * lanes, i);
            packed[i] = dword(p + 10 * lanes, i);
        }
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (18 + 8 * run) * lanes;
        auto four = [&](int) { return Numbers<2>{dword(q, 0), above[run / 4], 8 * (run % 4)}; };
        return signed_points<iq2_s_book>(four, dword(q, 1));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return scales_of_16(packed[run / 4], 8 * (run % 4), d);
    }
};

// x = +-d / 2 (S + 1/2) p[k]
struct IQ3_XXS {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 98, zero = 0, levels = 63;
    static constexpr bool is_signed = true, by_quads = false;
    // d, 8 x {index[8], 4 x 7 signs and 4 bits of scale}
    const uint8_t* p;
    F d;

    explicit IQ3_XXS(const uint8_t* at) : p(at), d(mul(load_f16(p), splat(0.5f))) {}
    [[gnu::always_inline]] I rest(int run) const { return dword(p + 2 * lanes, 3 * run + 2); }
    [[gnu::always_inline]] Quads codes(int run) const {
        auto four = [&](int i) { return Numbers<0>{dword(p + 2 * lanes, 3 * run + i)}; };
        return signed_points<iq3_xxs_book>(four, even_signs(rest(run)));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {scale_of(d, shift_right(rest(run), 28))};
    }
};

// 2n + 1.
[[gnu::always_inline]] inline I odd(I n) { return bit_or(shift_left(n, 1), splat(1)); }

// x = +-d (2 S + 1) p[k]
struct IQ3_S {
    using Scales = WholeScales<false, false>;
    static constexpr int block = 256, bytes = 110, zero = 0, levels = 16;
    static constexpr bool is_signed = true, by_quads = false;
    // d, ninth bits of index [64], scales 4 bits [8], 8 x {index[8], signs[4]}
    const uint8_t* p;
    F d;
    I above[2], packed;  // ninth bits, scales

    explicit IQ3_S(const uint8_t* at) : p(at), d(load_f16(p)), packed(dword(p + 10 * lanes, 0)) {
        for (int i = 0; i < 2; ++i) above[i] = dword(p + 2 * lanes, i);
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (14 + 12 * run) * lanes;
        auto four = [&](int i) {
            return Numbers<1>{dword(q, i), above[run / 4], 8 * (run % 4) + 4 * i};
        };
        return signed_points<iq3_s_book>(four, dword(q, 2));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d};
        s.scales[0] = s.pair = odd(field(packed, 4 * run, 4));
        return s;
    }
};

// What IQ1_S and IQ1_M share. x = d / 8 (2 S + 1) (8 p[k] +- 1), the last of which is a code less
// `zero`.
struct Shifted {
    static constexpr int zero = shifted_zero, levels = shifted_levels;
    static constexpr bool is_signed = false, by_quads = false;
};

struct IQ1_S : Shifted {
    using Scales = WholeScales<false, false>;
    static constexpr int block = 256, bytes = 50;
    // d, index[32], u16[8] with 4 x 3 high bits of index, 3 bits of scale and whether it is down
    const uint8_t* p;
    F d;

    explicit IQ1_S(const uint8_t* at) : p(at), d(mul(load_f16(p), splat(0.125f))) {}
    [[gnu::always_inline]] I rest(int run) const {
        return load_u16(p + 34 * lanes + 2 * lanes * run);
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const I above = rest(run);
        return shifted_points<0>(Numbers<3>{dword(p + 2 * lanes, run), above}, above, 15);
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d};
        s.scales[0] = s.pair = odd(field(rest(run), 12, 3));
        return s;
    }
};

struct IQ1_M : Shifted {
    using Scales = WholeScales<true, false>;
    static constexpr int block = 256, bytes = 56;
    // u16[4] with 4 x 3 bits of scale, and 4 bits of d; 8 x {index[4], 4 bits [4] with 3 high bits
    // of index and whether it is down}
    const uint8_t* p;
    F d;
    I packed[2];  // scales

    explicit IQ1_M(const uint8_t* at) : p(at) {
        I half = splat(0);
        for (int i = 0; i < 2; ++i) {
            packed[i] = dword(p, i);
            for (int k = 0; k < 2; ++k)
                half = bit_or(half, shift_left(field(packed[i], 16 * k + 12, 4), 8 * i + 4 * k));
        }
        d = mul(float_of_half(half), splat(0.125f));
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (8 + 6 * run) * lanes;
        const I above = load_u16(q + 4 * lanes);
        return shifted_points<4>(Numbers<3, 4>{load(q), above}, above, 3);
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d};
        const I four = shift_right(packed[run / 4], 16 * (run / 2 % 2) + 6 * (run % 2));
        for (int h = 0; h < 2; ++h) s.scales[h] = odd(field(four, 3 * h, 3));
        s.pair = pair_of(s.scales[0], s.scales[1]);
        return s;
    }
};

}  // namespace

extern const MatrixKernels iq2_xxs = kernels_of<IQ2_XXS>;
extern const MatrixKernels iq2_xs = kernels_of<IQ2_XS>;
extern const MatrixKernels iq2_s = kernels_of<IQ2_S>;
extern const MatrixKernels iq3_xxs = kernels_of<IQ3_XXS>;
extern const MatrixKernels iq3_s = kernels_of<IQ3_S>;
extern const MatrixKernels iq1_s = kernels_of<IQ1_S>;
extern const MatrixKernels iq1_m = kernels_of<IQ1_M>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
