// Matrix kernels of the types of 1 and 2 bits without levels: Q1_0, Q2_0, TQ2_0, and TQ1_0, which
// is packed like that (recode.h). Packed blocks hold their fields one after another, each
// interleaved over the rows (packing.cpp).
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

struct Q1_0 {
    using Scales = Scale;
    static constexpr int block = 128, bytes = 18, zero = 1, levels = 3;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, bits [16]: 2 where one is set, else 0
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int g) const {
        return [bits = dword(p + 2 * lanes, g)](int j) {
            return or_where(splat(0), repeat_byte(bits, j / 2), quad_bits(j), 2);
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct Q2_0 {
    using Scales = Scale;
    static constexpr int block = 64, bytes = 18, zero = 1, levels = 4;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, 2 x codes [8]
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int g) const {
        return [q = p + (2 + 8 * g) * lanes](int j) { return two_bits(q, j, 0); };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

struct TQ2_0 {
    using Scales = WholeScales<false, false>;
    static constexpr int block = 256, bytes = 66, zero = 1, levels = 4;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, 8 x codes [8]
    const uint8_t* p;
    F d;

    explicit TQ2_0(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] auto codes(int g) const {
        return [q = p + (2 + 8 * g) * lanes](int j) { return two_bits(q, j, 0); };
    }
    Scales scales(int) const {
        Scales s{d};
        s.scales[0] = s.pair = splat(1);
        return s;
    }
};

}  // namespace

extern const Matrix q1_0 = kernels_of<Q1_0>;
extern const Matrix q2_0 = kernels_of<Q2_0>;
extern const Matrix tq2_0 = kernels_of<TQ2_0>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
