// Matrix kernels of the types of 1 and 2 bits without a table of levels: Q1_0, Q2_0, TQ2_0, and
// TQ1_0, which is packed like that (recode.h). Packed blocks hold their fields one after another,
// each interleaved over the rows (packing.cpp). Above each type stands what a weight x is, of a
// code q.
#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/integer_kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// x = d (q - 1)
struct Q1_0 {
    using Scales = Scale;
    static constexpr int block = 128, bytes = 18, zero = 1, levels = 3;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, bits [16]: 2 where one is set, else 0
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int run) const {
        return [bits = dword(p + 2 * lanes, run)](int j) {
            return or_where(splat(0), repeat_byte(bits, j / 2), quad_bits(j), 2);
        };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};

// Codes of 2 bits: Q2_0, and half of a block of TQ2_0. x = d (q - 1)
template <int elements>
struct TwoBits {
    using Scales = Scale;
    static constexpr int block = elements, bytes = 2 + elements / 4, zero = 1, levels = 4;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    // d, codes [8] of each 32
    const uint8_t* p;

    [[gnu::always_inline]] auto codes(int run) const {
        return [q = p + (2 + 8 * run) * lanes](int j) { return two_bits(q, j, 0); };
    }
    Scales scales(int) const { return {load_f16(p)}; }
};
using Q2_0 = TwoBits<64>;
// Prompts are unpacked 128 columns at a time.
using HalfTQ2_0 = TwoBits<128>;

// Two such halves of one scale. As it is the same for all, sums stay integers.
struct TQ2_0 {
    using Scales = WholeScales<false, false>;
    static constexpr int block = 256, bytes = 2 * HalfTQ2_0::bytes, zero = 1, levels = 4;
    static constexpr bool is_signed = false, by_quads = true, seldom = true;
    const uint8_t* p;
    F d;

    explicit TQ2_0(const uint8_t* at) : p(at), d(load_f16(p)) {}
    [[gnu::always_inline]] auto codes(int run) const {
        return HalfTQ2_0{p + run / 4 * HalfTQ2_0::bytes * lanes}.codes(run % 4);
    }
    Scales scales(int) const {
        Scales s{d};
        s.scales[0] = s.pair = splat(1);
        return s;
    }
};

// Weights are exact, so that rounding tokens to 8 bits would be all that is lost: prompts are
// multiplied in 16.
template <class OfRows, class OfTiles>
constexpr MatrixKernels few_level_kernels{
    .block = is_wide<OfRows> ? 256 : 32,
    .multiply_rows = multiply_rows<OfRows>,
    .multiply_q16 = multiply_panels<Q16Dots<OfTiles>>,
    .q16_block = 32,
    .multiply_adding = panels_if<crosses, Q16Dots<Adding<OfTiles>>>()};

}  // namespace

extern const MatrixKernels q1_0 = few_level_kernels<Q1_0, Q1_0>;
extern const MatrixKernels q2_0 = few_level_kernels<Q2_0, Q2_0>;
extern const MatrixKernels tq2_0 = few_level_kernels<TQ2_0, HalfTQ2_0>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
