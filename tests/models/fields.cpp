#include "models/fields.h"

namespace tandem::test {

namespace {

using gguf::DType;

// One after another.
constexpr Field packed(uint32_t bits, uint32_t byte) { return {bits, 8 * byte, {}}; }
// One for every `step` bits.
constexpr Field spaced(uint32_t bits, uint32_t at, uint32_t step) {
    return {bits, at, {{{bits, 1}, {UINT32_MAX, step}}}};
}
// `run` of them one every `near` bits, the next run `far` bits behind.
constexpr Field runs(uint32_t bits, uint32_t at, uint32_t run, uint32_t near, uint32_t far) {
    return {bits, at, {{{bits, 1}, {run, near}, {UINT32_MAX, far}}}};
}
// `width` of them in the lowest bits of as many bytes, then above those (gguf/quants/plane.h).
constexpr Field plane(uint32_t bits, uint32_t byte, uint32_t width = 32) {
    return {bits, 8 * byte, {{{bits, 1}, {width, 8}, {8 / bits, bits}, {UINT32_MAX, 8 * width}}}};
}

}  // namespace

uint32_t place(const Digits& digits, uint32_t number) {
    uint32_t sum = 0;
    for (const Digit& digit : digits) {
        sum += number % digit.count * digit.step;
        number /= digit.count;
    }
    return sum;
}

void put(const Field& field, uint32_t index, uint32_t number, uint8_t* block) {
    for (uint32_t b = 0; b < field.bits; ++b) {
        const uint32_t at = field.at + place(field.digits, field.bits * index + b);
        block[at / 8] |= uint8_t(((number >> b) & 1) << (at % 8));
    }
}

uint32_t count(const Fields& fields) {
    uint32_t bits = 0;
    for (const Field& field : fields) bits += field.bits;
    return 1u << bits;
}

void put(const Fields& fields, uint32_t index, uint32_t number, uint8_t* block) {
    for (const Field& field : fields) {
        put(field, index, number, block);
        number >>= field.bits;
    }
}

std::span<const Format> formats() {
    // The layouts stand in gguf/quants/, a file for each family.
    // clang-format off
    static const Format table[] = {
        // codebooks.cpp; the shift of IQ1_M is a bit of its codes
        {.dtype = DType::IQ2_XXS, .group = 32, .unit = 8, .codes = {runs(8, 8 * 2, 4, 8, 64)},
         .scales = {spaced(4, 8 * 6 + 28, 64)}, .signs = runs(7, 8 * 6, 4, 7, 64)},
        {.dtype = DType::IQ2_XS, .group = 16, .unit = 8, .codes = {spaced(9, 8 * 2, 16)},
         .scales = {packed(4, 66)}, .signs = spaced(7, 8 * 2 + 9, 16)},
        {.dtype = DType::IQ2_S, .group = 16, .unit = 8, .codes = {packed(8, 2), packed(2, 66)},
         .scales = {packed(4, 74)}, .signs = packed(1, 34)},
        {.dtype = DType::IQ3_XXS, .group = 32, .unit = 4, .codes = {packed(8, 2)},
         .scales = {spaced(4, 8 * 66 + 28, 32)}, .signs = runs(7, 8 * 66, 4, 7, 32)},
        {.dtype = DType::IQ3_S, .group = 32, .unit = 4, .codes = {packed(8, 2), packed(1, 66)},
         .scales = {packed(4, 106)}, .signs = packed(1, 74)},
        {.dtype = DType::IQ1_S, .group = 32, .unit = 8,
         .codes = {packed(8, 2), runs(3, 8 * 34, 4, 3, 16)},
         .scales = {spaced(3, 8 * 34 + 12, 16)}, .variants = spaced(1, 8 * 34 + 15, 16)},
        {.dtype = DType::IQ1_M, .group = 16, .unit = 8, .codes = {packed(8, 0), packed(4, 32)},
         .scales = {runs(3, 8 * 48, 4, 3, 16)}, .base = {16, 8 * 48 + 12, {{{4, 1}, {4, 16}}}}},
        // blocks32.cpp
        {.dtype = DType::Q6_0, .group = 32, .unit = 1,
         .codes = {plane(4, 10, 16), {2, 8 * 2, {{{2, 1}, {8, 8}, {2, 4}, {2, 2}}}}}},
        // fork_k.cpp
        {.dtype = DType::IQ2_K, .group = 16, .unit = 1, .codes = {plane(2, 12)},
         .scales = {packed(4, 4)}, .variants = packed(1, 2)},
        {.dtype = DType::IQ3_K, .group = 16, .unit = 1, .codes = {plane(2, 14), plane(1, 78)},
         .scales = {packed(4, 6), packed(1, 4)}, .variants = packed(1, 2)},
        {.dtype = DType::IQ4_K, .group = 16, .unit = 1, .codes = {plane(4, 16, 16)},
         .scales = {packed(4, 8), packed(2, 4)}, .variants = packed(1, 2)},
        {.dtype = DType::IQ5_K, .group = 16, .unit = 1, .codes = {plane(4, 16), plane(1, 144)},
         .scales = {packed(4, 8), packed(2, 4)}, .variants = packed(1, 2)},
        {.dtype = DType::IQ6_K, .group = 16, .unit = 1, .codes = {plane(4, 20), plane(2, 148)},
         .scales = {packed(8, 4)}, .variants = packed(1, 2)},
        // fork_ks.cpp; the Gray code of IQ4_KSS makes four elements one code
        {.dtype = DType::IQ2_KS, .group = 32, .unit = 1, .codes = {plane(2, 6)},
         .scales = {packed(4, 2), packed(1, 1)}, .variants = packed(1, 0)},
        {.dtype = DType::IQ2_KL, .group = 32, .unit = 2,
         .codes = {plane(4, 6, 16), plane(1, 70, 16)}, .scales = {plane(4, 2, 4), packed(2, 0)}},
        {.dtype = DType::IQ3_KS, .group = 32, .unit = 1, .codes = {plane(2, 6), plane(1, 70)},
         .scales = {plane(4, 2, 4), packed(1, 0)}, .variants = packed(1, 1)},
        {.dtype = DType::IQ4_KS, .group = 32, .unit = 1, .codes = {plane(4, 8, 16)},
         .scales = {spaced(7, 1, 8)}, .variants = spaced(1, 0, 8)},
        {.dtype = DType::IQ4_KSS, .group = 32, .unit = 4, .codes = {spaced(15, 1, 16)},
         .scales = {{7, 16, {{{7, 16}, {8, 128}}}}}, .variants = spaced(1, 0, 128),
         .order = {{{2, 1}, {2, 16}, {8, 2}, {8, 32}}}},
        {.dtype = DType::IQ5_KS, .group = 32, .unit = 1, .codes = {plane(4, 8), plane(1, 136)},
         .scales = {spaced(7, 1, 8)}, .variants = spaced(1, 0, 8)},
        // trellis.cpp
        {.dtype = DType::IQ1_KT, .group = 32, .unit = 8,
         .codes = {packed(8, 8), plane(4, 40, 16), runs(1, 4, 4, 1, 8)},
         .scales = {spaced(4, 0, 8)}},
        {.dtype = DType::IQ2_KT, .group = 32, .unit = 8, .codes = {packed(16, 4)},
         .scales = {plane(4, 0, 4)}},
        {.dtype = DType::IQ3_KT, .group = 32, .unit = 8, .codes = {packed(16, 4)},
         .scales = {plane(4, 0, 4)}, .signs = plane(1, 68)},
        {.dtype = DType::IQ4_KT, .group = 32, .unit = 4,
         .codes = {packed(8, 32), plane(4, 96), runs(3, 8, 8, 3, 32)},
         .scales = {spaced(7, 1, 32)}, .variants = spaced(1, 0, 32)},
    };
    // clang-format on
    return table;
}

}  // namespace tandem::test
