// What one core can do at best: stream memory, multiply 8-bit integers, and multiply floats. For
// measuring, not for models.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

uint64_t stream(const uint8_t* memory, int64_t count) {
    // Where nothing is done but reading, the two steps of prefetch.h bring no more than one.
    constexpr int64_t step = 4 * lanes, ahead = 4096;
    I sums[4] = {splat(0), splat(0), splat(0), splat(0)};
    for (int64_t i = 0; i + 4 * step <= count; i += 4 * step) {
        for (int64_t line = 0; line < 4 * step; line += 64)
            __builtin_prefetch(memory + i + ahead + line);
        for (int k = 0; k < 4; ++k) sums[k] = add(sums[k], load(memory + i + k * step));
    }
    return uint64_t(uint32_t(sum(add(add(sums[0], sums[1]), add(sums[2], sums[3])))));
}

// Independent sums, as many as hide the latency of one instruction, and products of each in a
// round.
constexpr int chains = 12, length = 4;
int64_t integer_products() { return int64_t(chains) * length * lanes * 4; }

float integer_work(int64_t rounds) {
    I sums[chains], others[chains];
    for (int k = 0; k < chains; ++k) sums[k] = splat(k), others[k] = splat(0x04030201);
    const I* factors = others;
    for (int64_t round = 0; round < rounds; ++round) {
        const I codes = splat_bytes(3);
#pragma GCC unroll 4
        for (int i = 0; i < length; ++i) {
            // Keeps the compiler from folding the rounds, and from making a product once for all.
            asm volatile("" : "+r"(factors));
#pragma GCC unroll 12
            for (int k = 0; k < chains; ++k)
                sums[k] = in_register(sums_in_halves ? dot_halves(sums[k], codes, factors[k])
                                                     : dot(sums[k], codes, factors[0]));
        }
    }
    I total = sums[0];
    for (int k = 1; k < chains; ++k) total = add(total, sums[k]);
    return sum(to_float(total));
}

int64_t float_products() { return int64_t(chains) * length * lanes; }

float float_work(int64_t rounds) {
    F sums[chains];
    for (int k = 0; k < chains; ++k) sums[k] = splat(float(k));
    int32_t factors = 0x3f000000;  // 0.5
    for (int64_t round = 0; round < rounds; ++round) {
        asm volatile("" : "+r"(factors));  // keeps the compiler from folding the rounds
        F factor = as_float(splat(factors));
#pragma GCC unroll 4
        for (int i = 0; i < length; ++i)
#pragma GCC unroll 12
            for (int k = 0; k < chains; ++k) sums[k] = fma(sums[k], factor, factor);
    }
    F total = sums[0];
    for (int k = 1; k < chains; ++k) total = add(total, sums[k]);
    return sum(total);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
