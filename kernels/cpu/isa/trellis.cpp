// Matrix kernels of IQ1_KT to IQ4_KT, whose codes are seeds of a generator (gguf/quants/trellis.h)
// that gives the next 8 or 4 elements. Packed blocks hold their fields one after another, each
// interleaved over the rows (packing.cpp); the scale of the row stands in each. Above each type
// stands what a weight x is, of a number n of the generator and the scale S of its 32 neighbours,
// or the number S of one among the levels L of IQ4_NL.
#include "gguf/quants/trellis.h"
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// The generator multiplies its state by the first of these; so a seed times the n-th is its n-th.
struct Powers {
    uint32_t power[8];
};
constexpr Powers powers = [] {
    Powers all = {};
    uint32_t power = 1;
    for (uint32_t& nth : all.power) nth = power *= gguf::trellis_factor;
    return all;
}();

// Four numbers of the generator from the first-th on, as bytes. Sums are those of unsigned bytes
// until they are joined, so that none takes from its neighbours.
[[gnu::always_inline]] inline I four_numbers(I seed, int first) {
    constexpr int unsigned_zero = 128;
    I sums[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const I state = mul(seed, splat(int32_t(powers.power[first + i])));
        const I fields = bit_and(state, splat(int32_t(gguf::trellis_fields)));
        sums[i] = dot(splat(unsigned_zero - gguf::trellis_middle), fields, splat_bytes(1));
    }
    const I even = bit_or(sums[0], shift_left(sums[2], 16));
    const I odd = bit_or(sums[1], shift_left(sums[3], 16));
    return bit_xor(bit_or(even, shift_left(odd, 8)), splat_bytes(unsigned_zero));
}

// What all share. Numbers are from -126 to 126.
struct Seeded {
    using Scales = Scale;
    static constexpr int block = 256, zero = 0, levels = 127;
    static constexpr bool is_signed = true, by_quads = false, seldom = true;
    const uint8_t* p;
    F r;

    explicit Seeded(const uint8_t* at) : p(at), r(load_f32(p)) {}

    // Of seeds of eight elements each.
    template <typename SeedOf>
    [[gnu::always_inline]] static Quads of_seeds(SeedOf seed_of) {
        Quads all;
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
            const I seed = add(seed_of(k), splat(int32_t(gguf::trellis_first_seed)));
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half)
                all.quads[2 * k + half] = four_numbers(seed, 4 * half);
        }
        return all;
    }
    [[gnu::always_inline]] static Quads biased_quads(Quads all) {
#pragma GCC unroll 8
        for (I& quad : all.quads) quad = biased(quad);
        return all;
    }
};

// A level of IQ4_NL, by a number in the lowest byte of every lane.
[[gnu::always_inline]] inline I level_of(I number) {
    const I level = lookup(table16(nonlinear.level), number);
    return shift_right_signed(shift_left(level, 24), 24);
}

// Seed k of the n-th four of u16s from `at` on.
[[gnu::always_inline]] inline I half_seed(const uint8_t* at, int n, int k) {
    const I two = dword(at, 2 * n + k / 2);
    return k % 2 ? shift_right(two, 16) : bit_and(two, splat(0xffff));
}

// Four seeds of 12 bits, low bytes side by side and bits above in the low nibbles of bytes: those
// of the first and third in the halves of lanes, and of the second and fourth.
struct FourSeeds {
    I even, odd;

    FourSeeds(I low, I above) {
        const I lower = splat(0x00ff00ff), upper = splat(int32_t(0xff00ff00));
        const I bits = bit_and(above, splat_bytes(15));
        even = bit_or(bit_and(low, lower), shift_left(bit_and(bits, lower), 8));
        odd = bit_or(shift_right(bit_and(low, upper), 8), bit_and(bits, upper));
    }
    [[gnu::always_inline]] I operator[](int k) const {
        const I two = k % 2 ? odd : even;
        return k < 2 ? bit_and(two, splat(0xffff)) : shift_right(two, 16);
    }
};

// Bits of a word from `place` on, above 12 others.
[[gnu::always_inline]] inline I top_bits(I word, int place, int bits) {
    const I moved = place < 12 ? shift_left(word, 12 - place) : shift_right(word, place - 12);
    return bit_and(moved, splat(((1 << bits) - 1) << 12));
}

// x = R L[S] n
struct IQ1_KT : Seeded {
    static constexpr int bytes = 60;
    // R f32, number of a level and top bits of four seeds [8], 8 x {low bytes of seeds [4], 4 bits
    // above [2]}
    using Seeded::Seeded;
    [[gnu::always_inline]] I front(int run) const {
        return field(dword(p + 4 * lanes, run / 4), 8 * (run % 4), 8);
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (12 + 6 * run) * lanes;
        const I above = load_u16(q + 4 * lanes), top = front(run);
        const FourSeeds four(dword(q, 0), bit_or(above, shift_left(above, 12)));
        return biased_quads(
            of_seeds([&](int k) { return bit_or(four[k], top_bits(top, 4 + k, 1)); }));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {mul(r, to_float(level_of(bit_and(front(run), splat(15)))))};
    }
};

// x = R L[S] n
struct IQ2_KT : Seeded {
    static constexpr int bytes = 72;
    // R f32, numbers of levels of 4 bits [4], seeds u16[32]
    using Seeded::Seeded;
    [[gnu::always_inline]] Quads codes(int run) const {
        return biased_quads(of_seeds([&](int k) { return half_seed(p + 8 * lanes, run, k); }));
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {mul(r, to_float(level_of(nibble_of(dword(p + 4 * lanes, 0), run))))};
    }
};

// x = +-R S |n|
struct IQ3_KT : Seeded {
    static constexpr int bytes = 104;
    // R f32, scales of 4 bits [4], 8 x {seeds u16[4], signs [4]}
    using Seeded::Seeded;
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = p + (8 + 12 * run) * lanes;
        Quads all = of_seeds([&](int k) { return half_seed(q, 0, k); });
        const I signs = dword(q, 2);
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
            I& quad = all.quads[j];
            const I magnitudes = negate_where(quad, quad, splat_bytes(0x80));
            quad = negate_where(magnitudes, signs, splat_bytes(1 << j));
        }
        return biased_quads(all);
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {mul(r, to_float(nibble_of(dword(p + 4 * lanes, 0), run)))};
    }
};

// x = R (S - 64) n, of seeds of four elements each
struct IQ4_KT : Seeded {
    static constexpr int bytes = 132;
    // R f32, 8 x {u32 with a bit of all seeds, 7 bits of scale and 3 top bits of eight seeds, low
    // bytes of seeds [8], 4 bits above [4]}
    using Seeded::Seeded;
    [[gnu::always_inline]] const uint8_t* of_run(int run) const {
        return p + (4 + 16 * run) * lanes;
    }
    [[gnu::always_inline]] Quads codes(int run) const {
        const uint8_t* const q = of_run(run);
        const I top = dword(q, 0), above = dword(q, 3);
        const I first =
            add(shift_left(bit_and(top, splat(1)), 15), splat(int32_t(gguf::trellis_first_seed)));
        Quads all;
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            const FourSeeds four(dword(q, 1 + half), shift_right(above, 4 * half));
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) {
                const int number = 4 * half + k;
                const I seed = bit_or(four[k], top_bits(top, 8 + 3 * number, 3));
                all.quads[number] = biased(four_numbers(add(seed, first), 0));
            }
        }
        return all;
    }
    [[gnu::always_inline]] Scales scales(int run) const {
        return {mul(r, to_float(add(field(dword(of_run(run), 0), 1, 7), splat(-64))))};
    }
};

}  // namespace

extern const MatrixKernels iq1_kt = kernels_of<IQ1_KT>;
extern const MatrixKernels iq2_kt = kernels_of<IQ2_KT>;
extern const MatrixKernels iq3_kt = kernels_of<IQ3_KT>;
extern const MatrixKernels iq4_kt = kernels_of<IQ4_KT>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
