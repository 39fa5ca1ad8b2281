// Matrix kernels of the K-quants, regrouped (regroup.h), and IQ4_XS. Packed blocks hold their
// fields one after another, each interleaved over the rows (packing.cpp). Above each type stands
// what a weight x is, of a code q and the scale S and minimum M of its 16 or 32 neighbours.
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// What Q4_K and Q5_K share: d, dmin, and 6-bit scales and minima of eight runs in three dwords.
struct SixBits {
    using Scales = WholeScales<false, true>;
    const uint8_t* p;
    F d, dmin;
    I all_scales[2], all_mins[2];  // bytes of four runs in each lane

    explicit SixBits(const uint8_t* at)
        : p(at), d(load_f16(p)), dmin(sub(zero(), load_f16(p + 2 * lanes))) {
        const uint8_t* packed = p + 4 * lanes;
        const I first = dword(packed, 0), second = dword(packed, 1), third = dword(packed, 2);
        const I low = splat_bytes(15), high = splat_bytes(48), all = splat_bytes(63);
        all_scales[0] = bit_and(first, all);
        all_mins[0] = bit_and(second, all);
        all_scales[1] = bit_or(bit_and(third, low), bit_and(shift_right(first, 2), high));
        all_mins[1] =
            bit_or(bit_and(shift_right(third, 4), low), bit_and(shift_right(second, 2), high));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        const int at = 8 * (run % 4);
        const I scale = field(all_scales[run / 4], at, 8);
        return {d, dmin, {scale}, {field(all_mins[run / 4], at, 8)}, scale};
    }
};

// x = d S q - dmin M
struct Q2_K {
    using Scales = WholeScales<true, true>;
    static constexpr int block = 256, bytes = 84, zero = 0, levels = 4;
    static constexpr bool is_signed = false, by_quads = true;
    // d, dmin, 8 x {u16 with 2 scales and 2 minima of 4 bits, codes [8]}
    const uint8_t* p;
    F d, dmin;

    explicit Q2_K(const uint8_t* at)
        : p(at), d(load_f16(p)), dmin(sub(TANDEM_ISA::zero(), load_f16(p + 2 * lanes))) {}
    [[gnu::always_inline]] const uint8_t* of_run(int run) const {
        return p + (4 + 10 * run) * lanes;
    }
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = of_run(run) + 2 * lanes](int j) { return two_bits(q, j, 0); };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d, dmin};
        const I both = load_u16(of_run(run));
        for (int h = 0; h < 2; ++h) {
            s.scales[h] = field(both, 8 * h, 4);
            s.mins[h] = field(both, 8 * h + 4, 4);
        }
        s.pair = pair_of(s.scales[0], s.scales[1]);
        return s;
    }
};

// x = d (S - 32) (q - 4)
struct Q3_K {
    using Scales = WholeScales<true, false>;
    static constexpr int block = 256, bytes = 110, zero = 4, levels = 8;
    static constexpr bool is_signed = false, by_quads = true;
    // scales of 6 bits [16], d, codes [96]
    const uint8_t* p;
    F d;
    I all_scales[4];  // bytes of two runs in each lane, 32 more than they are

    explicit Q3_K(const uint8_t* at) : p(at), d(load_f16(p + 12 * lanes)) {
        const I low = splat_bytes(15), high = splat_bytes(48), third = dword(p, 2);
        for (int v = 0; v < 2; ++v) {
            const I both = dword(p, v);
            all_scales[v] = bit_or(bit_and(both, low), bit_and(shift_left(third, 4 - 2 * v), high));
            all_scales[v + 2] = bit_or(bit_and(shift_right(both, 4), low),
                                       bit_and(v == 0 ? third : shift_right(third, 2), high));
        }
    }
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (14 + 12 * run) * lanes;
        return [q, high = dword(q, 0)](int j) { return three_bits(high, q + 4 * lanes, j); };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        const I two = shift_right(all_scales[run / 2], 16 * (run % 2));
        const I apart =
            bit_or(bit_and(two, splat(0xff)), bit_and(shift_left(two, 8), splat(0xff0000)));
        // Less 32 in each half, so that none takes from the other.
        Scales s{d};
        s.pair =
            bit_xor(add(apart, splat(in_both_halves(0x8000 - 32))), splat(in_both_halves(0x8000)));
        s.scales[0] = lower_half(s.pair);
        s.scales[1] = shift_right_signed(s.pair, 16);
        return s;
    }
};

// x = d S q - dmin M
struct Q4_K : SixBits {
    static constexpr int block = 256, bytes = 144, zero = 0, levels = 16;
    static constexpr bool is_signed = false, by_quads = true;
    // d, dmin, scales and minima of 6 bits [8], codes [128]
    using SixBits::SixBits;
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (16 + 16 * run) * lanes](int j) { return nibbles(q, j); };
    }
};

// x = d S q - dmin M
struct Q5_K : SixBits {
    static constexpr int block = 256, bytes = 176, zero = 0, levels = 32;
    static constexpr bool is_signed = false, by_quads = true;
    // likewise, but 8 x {fifth bits [4], codes [16]}
    using SixBits::SixBits;
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (16 + 20 * run) * lanes;
        return [q, high = dword(q, 0)](int j) { return five_bits(high, q + 4 * lanes, j); };
    }
};

// x = d S (q - 32)
struct Q6_K {
    using Scales = WholeScales<true, false>;
    static constexpr int block = 256, bytes = 210, zero = 32, levels = 64;
    static constexpr bool is_signed = false, by_quads = true;
    // d, 8 x {s8 scales [2], 2 high bits [8], codes [16]}
    const uint8_t* p;
    F d;

    explicit Q6_K(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] const uint8_t* of_run(int run) const {
        return p + (2 + 26 * run) * lanes;
    }
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = of_run(run) + 2 * lanes](int j) { return six_bits(q, q + 8 * lanes, j); };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d};
        s.pair = load_s8_pairs(of_run(run));
        s.scales[0] = lower_half(s.pair);
        s.scales[1] = shift_right_signed(s.pair, 16);
        return s;
    }
};

// x = d (S - 32) L[q], of the levels L in gguf/quants/nonlinear.h
struct IQ4_XS {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 136, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true;
    // d, high 2 bits of the scales u16, low 4 bits [4], codes [128]
    const uint8_t* p;
    F d;
    I high, low;

    explicit IQ4_XS(const uint8_t* at)
        : p(at), d(load_f16(p)), high(load_u16(p + 2 * lanes)), low(dword(p + 4 * lanes, 0)) {}
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (8 + 16 * run) * lanes, table = biased(table16(nonlinear.level))](int j) {
            return lookup_nibbles(table, q, j);
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        I scale = bit_or(field(low, 4 * run, 4), shift_left(field(high, 2 * run, 2), 4));
        return {mul(d, to_float(add(scale, splat(-32))))};
    }
};

}  // namespace

extern const MatrixKernels q2_k = kernels_of<Q2_K>;
extern const MatrixKernels q3_k = kernels_of<Q3_K>;
extern const MatrixKernels q4_k = kernels_of<Q4_K>;
extern const MatrixKernels q5_k = kernels_of<Q5_K>;
extern const MatrixKernels q6_k = kernels_of<Q6_K>;
extern const MatrixKernels iq4_xs = kernels_of<IQ4_XS>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
