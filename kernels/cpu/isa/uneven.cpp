// Matrix kernels of IQ2_K to IQ6_K, IQ2_KS to IQ5_KS, IQ2_KL, and IQ4_KSS, which is packed as
// IQ4_KS (recode.h): codes are numbers of uneven levels (gguf/quants/fork_levels.h), which each 16
// or 32 elements may move by the same. Packed blocks hold their fields one after another, each
// interleaved over the rows (packing.cpp); each has a scale d or that of the whole row, R. Above
// each type stands what a weight x is, of the level L[q] of its code q, moved or not, and the scale
// S of its 16 or 32 neighbours.
#include "gguf/quants/fork_levels.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// What a bit of every row adds to codes: bytes of a number, or of none.
[[gnu::always_inline]] inline I moved_by(I bits, int place, int number) {
    return bit_and(where_bit(bits, place), splat_bytes(number));
}

// Levels of 2 bits, moved up to begin at 0.
constexpr int least2 = gguf::levels2[0];
constexpr auto levels2 = level_array(gguf::levels2, 4, -least2);
constexpr auto levels3 = level_array(gguf::levels3, 8);
constexpr auto levels4 = level_array(gguf::levels4, 16);
constexpr auto levels5 = level_array(gguf::levels5, 32);
// Rounded to whole numbers, as integer products of the format do, which takes less from weights
// than rounding them to Q8_0 would.
constexpr auto levels6 = [] {
    LevelArray levels = {};
    for (int i = 0; i < 64; ++i) {
        const float level = gguf::levels6[size_t(i)];
        levels.level[i] = int8_t(level < 0 ? level - 0.5f : level + 0.5f);
    }
    return levels;
}();

// By which levels are moved.
constexpr int move2 = gguf::levels2[4] - gguf::levels2[0];
constexpr int move3 = gguf::levels3[8] - gguf::levels3[0];
constexpr int move4 = gguf::levels4[16] - gguf::levels4[0];
constexpr int move5 = gguf::levels5[32] - gguf::levels5[0], move6 = gguf::shift6;

// What levels of a run of 32 elements are moved by: those of its first and its last 16, of a bit
// each.
struct Moves {
    I first, last;

    Moves(I moved, int run, int number)
        : first(moved_by(moved, 2 * run, number)), last(moved_by(moved, 2 * run + 1, number)) {}
    [[gnu::always_inline]] I of_quad(int j) const { return j < 4 ? first : last; }
};

// x = d (S - 8) L[q]
struct IQ2_K {
    using Scales = WholeScales<true, false>;
    static constexpr int block = 256, bytes = 76, zero = -least2, levels = 54;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, moved u16, scales of 4 bits [16], codes [64]
    const uint8_t* p;
    F d;
    I moved, packed[2];

    explicit IQ2_K(const uint8_t* at)
        : p(at),
          d(load_f16(p)),
          moved(load_u16(p + 2 * lanes)),
          packed{dword(p + 4 * lanes, 0), dword(p + 4 * lanes, 1)} {}
    [[gnu::always_inline]] auto codes(int run) const {
        const Moves moves(moved, run, move2);
        return [q = p + (12 + 8 * run) * lanes, table = table16(levels2.level), moves](int j) {
            return add_bytes(lookup(table, two_bits(q, j, 0)), moves.of_quad(j));
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s{d};
        for (int h = 0; h < 2; ++h)
            s.scales[h] = add(field(packed[run / 4], 8 * (run % 4) + 4 * h, 4), splat(-8));
        s.pair = pair_of(s.scales[0], s.scales[1]);
        return s;
    }
};

// x = +-d (2 S + 1) L[q]
struct IQ3_K {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 110, zero = 0, levels = 64;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // d, moved u16, signs of scales u16, scales of 4 bits [16], 8 x {high bits [4], codes [8]}
    const uint8_t* p;
    F d;
    I moved, signs, packed[2];

    explicit IQ3_K(const uint8_t* at)
        : p(at),
          d(load_f16(p)),
          moved(load_u16(p + 2 * lanes)),
          signs(load_u16(p + 4 * lanes)),
          packed{dword(p + 6 * lanes, 0), dword(p + 6 * lanes, 1)} {}
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (14 + 12 * run) * lanes;
        const Moves moves(moved, run, move3);
        return [q, high = dword(q, 0), table = table16(levels3.level), moves](int j) {
            const I index = three_bits(high, q + 4 * lanes, j);
            return biased(add_bytes(lookup(table, index), moves.of_quad(j)));
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s;
        for (int h = 0; h < 2; ++h) {
            const I odd = field(packed[run / 4], 8 * (run % 4) + 4 * h, 4);
            const I scale = bit_or(shift_left(odd, 1), splat(1));
            const I sign = shift_left(shift_right(signs, 2 * run + h), 31);
            s.scales[h] = as_float(bit_xor(as_int(mul(d, to_float(scale))), sign));
        }
        return s;
    }
};

// What IQ4_K and IQ5_K share: scales of 6 bits, 32 more than they are.
struct SixBitScales {
    using Scales = Scale16;
    const uint8_t* p;
    F d;
    I moved, high, low[2];

    explicit SixBitScales(const uint8_t* at)
        : p(at),
          d(load_f16(p)),
          moved(load_u16(p + 2 * lanes)),
          high(dword(p + 4 * lanes, 0)),
          low{dword(p + 4 * lanes, 1), dword(p + 4 * lanes, 2)} {}
    [[gnu::always_inline]] Scales scales(int run) const {
        Scales s;
        for (int h = 0; h < 2; ++h) {
            const I scale = bit_or(field(low[run / 4], 8 * (run % 4) + 4 * h, 4),
                                   shift_left(field(high, 4 * run + 2 * h, 2), 4));
            s.scales[h] = mul(d, to_float(add(scale, splat(-32))));
        }
        return s;
    }
};

// x = d (S - 32) L[q]
struct IQ4_K : SixBitScales {
    static constexpr int block = 256, bytes = 144, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // d, moved u16, high 2 bits of scales [4], low 4 bits [8], codes [128]
    using SixBitScales::SixBitScales;
    [[gnu::always_inline]] auto codes(int run) const {
        const Moves moves(moved, run, move4);
        return [q = p + (16 + 16 * run) * lanes, table = biased(table16(levels4.level)),
                moves](int j) { return add_bytes(lookup_nibbles(table, q, j), moves.of_quad(j)); };
    }
};

// x = d (S - 32) L[q]
struct IQ5_K : SixBitScales {
    static constexpr int block = 256, bytes = 176, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // likewise, but 8 x {fifth bits [4], codes [16]}
    using SixBitScales::SixBitScales;
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (16 + 20 * run) * lanes;
        const Moves moves(moved, run, move5);
        return [q, high = dword(q, 0), table = LevelTable<32>(levels5), moves](int j) {
            const I index = five_bits(high, q + 4 * lanes, j);
            return biased(add_bytes(table[index], moves.of_quad(j)));
        };
    }
};

// x = d S L[q]
struct IQ6_K {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 212, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // d, moved u16, s8 scales [16], 8 x {2 high bits [8], codes [16]}
    const uint8_t* p;
    F d;
    I moved;

    explicit IQ6_K(const uint8_t* at) : p(at), d(load_f16(p)), moved(load_u16(p + 2 * lanes)) {}
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (20 + 24 * run) * lanes;
        const Moves moves(moved, run, move6);
        return [q, table = LevelTable<64>(levels6), moves](int j) {
            const I index = six_bits(q, q + 8 * lanes, j);
            return biased(add_bytes(table[index], moves.of_quad(j)));
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        const I pair = load_s8_pairs(p + (4 + 2 * run) * lanes);
        return {
            {mul(d, to_float(lower_half(pair))), mul(d, to_float(shift_right_signed(pair, 16)))}};
    }
};

// What IQ2_KS, IQ3_KS and IQ2_KL share: 4 bits of scales, and what else there is of scales and
// levels in a word before them.
struct NibbleScales {
    using Scales = Scale;
    const uint8_t* p;
    F r;
    I above, low;

    explicit NibbleScales(const uint8_t* at)
        : p(at), r(load_f16(p)), above(load_u16(p + 2 * lanes)), low(dword(p + 4 * lanes, 0)) {}
    // That of a code, which is so much more than it is.
    [[gnu::always_inline]] Scales scale_of(I code, int more) const {
        return {mul(r, to_float(add(code, splat(-more))))};
    }
};

// x = R (S - 16) L[q]
struct IQ2_KS : NibbleScales {
    static constexpr int block = 256, bytes = 72, zero = -least2, levels = 54;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // R f16, moved and fifth bits of scales [2], low 4 bits [4], codes [64]
    using NibbleScales::NibbleScales;
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (8 + 8 * run) * lanes, table = table16(levels2.level),
                all = moved_by(above, run, move2)](int j) {
            return add_bytes(lookup(table, two_bits(q, j, 0)), all);
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return scale_of(bit_or(field(low, 4 * run, 4), shift_left(field(above, 8 + run, 1), 4)),
                        16);
    }
};

// x = R (S - 16) L[q]
struct IQ3_KS : NibbleScales {
    static constexpr int block = 256, bytes = 104, zero = 0, levels = 64;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // R f16, fifth bits of scales and moved [2], low 4 bits [4], 8 x {high bits [4], codes [8]}
    using NibbleScales::NibbleScales;
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (8 + 12 * run) * lanes;
        return [q, high = dword(q, 0), table = table16(levels3.level),
                all = moved_by(above, 8 + run, move3)](int j) {
            const I index = three_bits(high, q + 4 * lanes, j);
            return biased(add_bytes(lookup(table, index), all));
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return scale_of(bit_or(nibble_of(low, run), shift_left(field(above, run, 1), 4)), 16);
    }
};

// What IQ4_KS and IQ5_KS share: scales of a byte, the lowest bit of which says whether levels are
// moved.
struct ByteScales {
    using Scales = Scale;
    const uint8_t* p;
    F r;
    I packed[2];

    explicit ByteScales(const uint8_t* at)
        : p(at), r(load_f32(p)), packed{dword(p + 4 * lanes, 0), dword(p + 4 * lanes, 1)} {}
    [[gnu::always_inline]] I moved(int run, int number) const {
        return moved_by(packed[run / 4], 8 * (run % 4), number);
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        const I scale = bit_and(shift_right(packed[run / 4], 8 * (run % 4)), splat(0xfe));
        return {mul(r, to_float(add(scale, splat(-127))))};
    }
};

// x = R (S - 127) L[q]
struct IQ4_KS : ByteScales {
    static constexpr int block = 256, bytes = 140, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // R f32, scales [8], codes [128]
    using ByteScales::ByteScales;
    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (12 + 16 * run) * lanes, table = biased(table16(levels4.level)),
                all = moved(run, move4)](int j) {
            return add_bytes(lookup_nibbles(table, q, j), all);
        };
    }
};

// x = R (S - 127) L[q]
struct IQ5_KS : ByteScales {
    static constexpr int block = 256, bytes = 172, zero = 0, levels = 128;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // likewise, but 8 x {fifth bits [4], codes [16]}
    using ByteScales::ByteScales;
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (12 + 20 * run) * lanes;
        return [q, high = dword(q, 0), table = LevelTable<32>(levels5),
                all = moved(run, move5)](int j) {
            const I index = five_bits(high, q + 4 * lanes, j);
            return biased(add_bytes(table[index], all));
        };
    }
};

// The levels of the first elements of pairs, by their codes, then those of the second ones.
constexpr auto levels_of_pairs = [] {
    LevelArray levels = {};
    for (int i = 0; i < 64; ++i) {
        const gguf::LevelPair& pair = gguf::level_pairs[i % 32];
        levels.level[i] = i < 32 ? pair.first : pair.second;
    }
    return levels;
}();

// x = R (S - 32) L[q], of two neighbours with one code
struct IQ2_KL : NibbleScales {
    static constexpr int block = 256, bytes = 88, zero = 0, levels = 64;
    static constexpr bool is_signed = true, by_quads = true, seldom = true;
    // R f16, high 2 bits of scales u16, low 4 bits [4], 8 x {codes of pairs [8], fifth bits u16}
    using NibbleScales::NibbleScales;
    [[gnu::always_inline]] auto codes(int run) const {
        const uint8_t* const q = p + (8 + 10 * run) * lanes;
        const I bits = load_u16(q + 8 * lanes);
        const I fifth = bit_and(bit_or(bits, shift_left(bits, 8)), splat(0x00ff00ff));
        return [q, fifth, table = LevelTable<64>(levels_of_pairs)](int j) {
            const I of_pair = bit_and(shift_right(dword(q, j / 4), 4 * (j % 4)), splat(0x000f000f));
            const I moved = j < 4 ? shift_left(fifth, 4 - j) : shift_right(fifth, j - 4);
            const I code = bit_or(of_pair, bit_and(moved, splat(0x00100010))),
                    second = shift_left(code, 8);
            return biased(table[bit_or(bit_or(code, second), splat(0x20002000))]);
        };
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return scale_of(bit_or(nibble_of(low, run), shift_left(field(above, 2 * run, 2), 4)), 32);
    }
};

}  // namespace

extern const MatrixKernels iq2_k = kernels_of<IQ2_K>;
extern const MatrixKernels iq3_k = kernels_of<IQ3_K>;
extern const MatrixKernels iq4_k = kernels_of<IQ4_K>;
extern const MatrixKernels iq5_k = kernels_of<IQ5_K>;
extern const MatrixKernels iq6_k = kernels_of<IQ6_K>;
extern const MatrixKernels iq2_ks = kernels_of<IQ2_KS>;
extern const MatrixKernels iq3_ks = kernels_of<IQ3_KS>;
extern const MatrixKernels iq4_ks = kernels_of<IQ4_KS>;
extern const MatrixKernels iq5_ks = kernels_of<IQ5_KS>;
extern const MatrixKernels iq2_kl = kernels_of<IQ2_KL>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
