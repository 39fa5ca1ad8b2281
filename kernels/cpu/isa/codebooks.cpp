// Matrix kernels of IQ1_*, IQ2_* and IQ3_*: blocks of 256 elements, each 4 or 8 of them a point of
// a codebook (gguf/quants/codebooks.cpp). Packed blocks hold their fields one after another, each
// interleaved over the rows (packing.cpp).
#include "gguf/quants/grids.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// The codes of 32 elements, which come in points.
struct Quads {
    I quads[8];
    [[gnu::always_inline]] I operator()(int j) const { return quads[j]; }
};

// A codebook whose points have signs of their own. Blocks hold the numbers of points.
template <size_t length, size_t count>
struct Codebook {
    static constexpr int bits = length == 8 ? 2 : 3;  // of a level's number
    static constexpr int pairs = 16 / length;         // of points in 32 elements

    const std::array<std::array<int8_t, length>, count>& points;
    const std::array<uint16_t, count>& numbers_of_levels;
    const gguf::Levels& levels;

    // Levels by their numbers and a bit above, which negates; as biased() makes them, repeated.
    constexpr std::array<uint8_t, 64> signed_levels() const {
        std::array<uint8_t, 64> all = {};
        for (size_t i = 0; i < all.size(); ++i) {
            const int level = levels[i % (1 << bits)];
            all[i] = uint8_t(signed_bias + (i >> bits & 1 ? -level : level));
        }
        return all;
    }
};

constexpr Codebook iq2_xxs_book{gguf::iq2xxs_grid, gguf::iq2xxs_grid_codes, gguf::iq2_levels};
constexpr Codebook iq2_xs_book{gguf::iq2xs_grid, gguf::iq2xs_grid_codes, gguf::iq2_levels};
constexpr Codebook iq2_s_book{gguf::iq2s_grid, gguf::iq2s_grid_codes, gguf::iq2_levels};
constexpr Codebook iq3_xxs_book{gguf::iq3xxs_grid, gguf::iq3xxs_grid_codes, gguf::iq3xxs_levels};
constexpr Codebook iq3_s_book{gguf::iq3s_grid, gguf::iq3s_grid_codes, gguf::iq3s_levels};

// The numbers of two points: in the halves of lanes where both are looked up together.
#if defined(__AVX512VBMI__)
using Two = I;
inline Two merge(Two a, Two b) { return bit_or(a, b); }
#else
struct Two {
    I first, second;
};
inline Two merge(Two a, Two b) { return {bit_or(a.first, b.first), bit_or(a.second, b.second)}; }
#endif

// Two neighbours of a lane's fields of up to 8 bits, from bit `to` on, which is 0 or 8.
template <int bits, int to = 0>
[[gnu::always_inline]] inline Two two_fields(I lane, int shift) {
#if defined(__AVX512VBMI__)
    const I in_both = splat(in_both_halves(((1 << bits) - 1) << to));
    return bit_and(pick_bits<0, bits, bits>(lane, shift), in_both);
#else
    auto moved = [&](int from) {
        const I bits_of = field(lane, from, bits);
        return to == 0 ? bits_of : shift_left(bits_of, to);
    };
    return {moved(shift), moved(shift + bits)};
#endif
}
// Of the halves of a lane, so many bits.
template <int bits>
[[gnu::always_inline]] inline Two two_halves(I lane) {
#if defined(__AVX512VBMI__)
    return bit_and(lane, splat(in_both_halves((1 << bits) - 1)));
#else
    return {field(lane, 0, bits), field(lane, 16, bits)};
#endif
}

// The codes of 32 elements. pair(k): the numbers of two points; a lane's bits of `signs`: which of
// its elements are negative.
//
// Where registers are looked up like tables, one lookup finds the numbers of levels of a pair and
// another their bytes; elsewhere the points are gathered from memory.
template <const auto& book, typename Pair>
[[gnu::always_inline]] inline Quads signed_points(Pair pair, I signs) {
    constexpr int pairs = book.pairs, quads = 8 / pairs;  // of a pair
    Quads codes;
#if defined(__AVX512VBMI__)
    alignas(64) static constexpr auto table = book.signed_levels();
    constexpr int bits = book.bits, most = (1 << bits) - 1;
#pragma GCC unroll 4
    for (int k = 0; k < pairs; ++k) {
        const I levels =
            lookup_halves<0, book.points.size()>(book.numbers_of_levels.data(), pair(k));
#pragma GCC unroll 4
        for (int i = 0; i < quads; ++i) {
            const int v = quads * k + i;
            const I index = select_bits(splat_bytes(most),
                                        pick_bits<bits, 2 * bits, 3 * bits>(levels, 32 / quads * i),
                                        pick_bits<1, 2, 3>(signs, 4 * v - bits));
            codes.quads[v] = lookup64(load(table.data()), index);
        }
    }
#else
    for (int k = 0; k < pairs; ++k) {
        const Two numbers = pair(k);
        const I both[] = {numbers.first, numbers.second};
        for (int i = 0; i < 2; ++i)
            if constexpr (quads == 4)
                gather_pairs(book.points.data(), both[i], codes.quads + 4 * k + 2 * i);
            else
                codes.quads[2 * k + i] = gather(book.points.data(), both[i]);
    }
    // Byte k of a lane has the signs of quads 2k and 2k + 1.
    for (int v = 0; v < 8; ++v)
        codes.quads[v] =
            biased(negate_where(codes.quads[v], repeat_byte(signs, v / 2), quad_bits(v)));
#endif
    return codes;
}

// Seven signs in each byte become eight, whose number is even.
[[gnu::always_inline]] inline I even_signs(I seven) {
    alignas(16) static constexpr int8_t odd[16] = {0,    -128, -128, 0,    -128, 0,    0,    -128,
                                                   -128, 0,    0,    -128, 0,    -128, -128, 0};
    const I halves = bit_and(bit_xor(seven, shift_right(seven, 4)), splat_bytes(15));
    return bit_or(seven, lookup(table16(odd), halves));
}

// Four runs of seven bits, each in a byte.
[[gnu::always_inline]] inline I spread_sevens(I bits) {
    I bytes = field(bits, 0, 7);
    for (int k = 1; k < 4; ++k) bytes = bit_or(bytes, shift_left(field(bits, 7 * k, 7), 8 * k));
    return bytes;
}

// d (1/2 + n) factor
[[gnu::always_inline]] inline F scale_of(F d, I n, float factor) {
    return mul(mul(d, add(to_float(n), splat(0.5f))), splat(factor));
}

struct IQ2_XXS {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 66, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, 8 x {index[4], 4 x 7 signs and 4 bits of scale}
    const uint8_t* p;
    F d;

    explicit IQ2_XXS(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] I rest(int g) const { return dword(p + 2 * lanes, 2 * g + 1); }
    [[gnu::always_inline]] Quads codes(int g) const {
        const I index = dword(p + 2 * lanes, 2 * g);
        auto pair = [&](int k) { return two_fields<8>(index, 16 * k); };
        return signed_points<iq2_xxs_book>(pair, even_signs(spread_sevens(rest(g))));
    }
    [[gnu::always_inline]] Scales scales(int g) const {
        return {scale_of(d, shift_right(rest(g), 28), 0.25f)};
    }
};

// The scales of 16 elements each, 4 bits.
[[gnu::always_inline]] inline Scale16 scales_of_16(const uint8_t* p, F d, int g) {
    Scale16 s;
    for (int h = 0; h < 2; ++h)
        s.scales[h] = scale_of(d, field(dword(p, g / 4), 8 * (g % 4) + 4 * h, 4), 0.25f);
    return s;
}

struct IQ2_XS {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 74, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, u16[32] with 9 bits of index and 7 signs, scales 4 bits [16]
    const uint8_t* p;
    F d;

    explicit IQ2_XS(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] Quads codes(int g) const {
        auto both = [&](int k) { return dword(p + 2 * lanes, 2 * g + k); };
        auto pair = [&](int k) { return two_halves<9>(both(k)); };
        auto sevens = [&](int k) {
            return bit_or(field(both(k), 9, 7), shift_left(field(both(k), 25, 7), 8));
        };
        const I signs = even_signs(bit_or(sevens(0), shift_left(sevens(1), 16)));
        return signed_points<iq2_xs_book>(pair, signs);
    }
    [[gnu::always_inline]] Scales scales(int g) const { return scales_of_16(p + 66 * lanes, d, g); }
};

struct IQ2_S {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 82, zero = 0, levels = 44;
    static constexpr bool is_signed = true, by_quads = false;
    // d, index[32], signs[32], 2 high bits of index [32], scales 4 bits [16]
    const uint8_t* p;
    F d;

    explicit IQ2_S(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] Quads codes(int g) const {
        const I low = dword(p + 2 * lanes, g), high = dword(p + 66 * lanes, g / 4);
        auto pair = [&](int k) {
            return merge(two_fields<8>(low, 16 * k), two_fields<2, 8>(high, 8 * (g % 4) + 4 * k));
        };
        return signed_points<iq2_s_book>(pair, dword(p + 34 * lanes, g));
    }
    [[gnu::always_inline]] Scales scales(int g) const { return scales_of_16(p + 74 * lanes, d, g); }
};

struct IQ3_XXS {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 98, zero = 0, levels = 63;
    static constexpr bool is_signed = true, by_quads = false;
    // d, index[64], u32[8] with 4 x 7 signs and 4 bits of scale
    const uint8_t* p;
    F d;

    explicit IQ3_XXS(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] I rest(int g) const { return dword(p + 66 * lanes, g); }
    [[gnu::always_inline]] Quads codes(int g) const {
        auto pair = [&](int k) {
            return two_fields<8>(dword(p + 2 * lanes, 2 * g + k / 2), 16 * (k % 2));
        };
        return signed_points<iq3_xxs_book>(pair, even_signs(spread_sevens(rest(g))));
    }
    [[gnu::always_inline]] Scales scales(int g) const {
        return {scale_of(d, shift_right(rest(g), 28), 0.5f)};
    }
};

struct IQ3_S {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 110, zero = 0, levels = 16;
    static constexpr bool is_signed = true, by_quads = false;
    // d, index[64], ninth bits of index [64], signs[32], scales 4 bits [8]
    const uint8_t* p;
    F d;
    I packed;  // scales

    explicit IQ3_S(const uint8_t* at) : p(at), d(load_f16(p)), packed(dword(p + 106 * lanes, 0)) {}
    [[gnu::always_inline]] Quads codes(int g) const {
        const I high = dword(p + 66 * lanes, g / 4);
        auto pair = [&](int k) {
            const I low = dword(p + 2 * lanes, 2 * g + k / 2);
            return merge(two_fields<8>(low, 16 * (k % 2)),
                         two_fields<1, 8>(high, 8 * (g % 4) + 2 * k));
        };
        return signed_points<iq3_s_book>(pair, dword(p + 74 * lanes, g));
    }
    [[gnu::always_inline]] Scales scales(int g) const {
        return {scale_of(d, field(packed, 4 * g, 4), 2)};
    }
};

// Of IQ1_*: points of -1, 0 and 1, moved up or down by 1/8. Codes are eight times that, plus 9.
struct Shifted {
    static constexpr int zero = 9, levels = 19;
    static constexpr bool is_signed = false, by_quads = false;

    // `up`: 2 where a point is moved up, 0 where down.
    [[gnu::always_inline]] static void load(I index, I up, I* quads) {
        alignas(16) static constexpr int8_t levels[16] = {8, 16, 0, 0};
        gather_pairs(&gguf::iq1s_grid, index, quads);
        for (int i = 0; i < 2; ++i)
            quads[i] = bit_or(lookup(table16(levels), bit_and(quads[i], splat_bytes(3))),
                              repeat_byte(up, 0));
    }
    // An eighth of d (2n + 1).
    [[gnu::always_inline]] static F scale(F d, I n) { return scale_of(d, n, 0.25f); }
};

struct IQ1_S : Shifted {
    using Scales = Scale;
    static constexpr int block = 256, bytes = 50;
    // d, index[32], u16[8] with 4 x 3 high bits of index, 3 bits of scale and whether it is down
    const uint8_t* p;
    F d;

    explicit IQ1_S(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] I rest(int g) const { return load_u16(p + 34 * lanes + 2 * lanes * g); }
    [[gnu::always_inline]] Quads codes(int g) const {
        const I low = dword(p + 2 * lanes, g), high = rest(g);
        const I up = shift_left(bit_xor(field(high, 15, 1), splat(1)), 1);
        Quads codes;
        for (int k = 0; k < 4; ++k)
            load(bit_or(field(low, 8 * k, 8), shift_left(field(high, 3 * k, 3), 8)), up,
                 codes.quads + 2 * k);
        return codes;
    }
    [[gnu::always_inline]] Scales scales(int g) const { return {scale(d, field(rest(g), 12, 3))}; }
};

struct IQ1_M : Shifted {
    using Scales = Scale16;
    static constexpr int block = 256, bytes = 56;
    // index[32], 4 bits [32] with 3 high bits of index and whether it is down, u16[4] with 4 x 3
    // bits of scale, and 4 bits of d
    const uint8_t* p;
    F d;

    explicit IQ1_M(const uint8_t* at) : p(at) {
        I half = splat(0);
        for (int i = 0; i < 4; ++i) {
            const I pair = dword(p + 48 * lanes, i / 2);
            half = bit_or(half, shift_left(field(pair, 16 * (i % 2) + 12, 4), 4 * i));
        }
        d = float_of_half(half);
    }
    [[gnu::always_inline]] Quads codes(int g) const {
        const I low = dword(p, g), rest = dword(p + 32 * lanes, g / 2);
        Quads codes;
        for (int k = 0; k < 4; ++k) {
            const int at = 16 * (g % 2) + 4 * k;
            const I up = shift_left(bit_xor(field(rest, at + 3, 1), splat(1)), 1);
            load(bit_or(field(low, 8 * k, 8), shift_left(field(rest, at, 3), 8)), up,
                 codes.quads + 2 * k);
        }
        return codes;
    }
    [[gnu::always_inline]] Scales scales(int g) const {
        Scale16 s;
        for (int h = 0; h < 2; ++h) {
            const int j = 2 * g + h;
            const I pair = dword(p + 48 * lanes, j / 8);
            s.scales[h] = scale(d, field(pair, 16 * (j / 4 % 2) + 3 * (j % 4), 3));
        }
        return s;
    }
};

}  // namespace

extern const Matrix iq2_xxs = kernels_of<IQ2_XXS>;
extern const Matrix iq2_xs = kernels_of<IQ2_XS>;
extern const Matrix iq2_s = kernels_of<IQ2_S>;
extern const Matrix iq3_xxs = kernels_of<IQ3_XXS>;
extern const Matrix iq3_s = kernels_of<IQ3_S>;
extern const Matrix iq1_s = kernels_of<IQ1_S>;
extern const Matrix iq1_m = kernels_of<IQ1_M>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
