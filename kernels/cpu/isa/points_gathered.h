// Points that are gathered from memory (points.h).
#pragma once

namespace tandem::kernels::cpu::TANDEM_ISA {

// The number of point k.
template <int bits, int apart>
[[gnu::always_inline]] inline I number(const Numbers<bits, apart>& numbers, int k) {
    const I byte = field(numbers.low, 8 * k, 8);
    if constexpr (bits == 0) return byte;
    return bit_or(byte, shift_left(field(numbers.above, numbers.from + apart * k, bits), 8));
}
[[gnu::always_inline]] inline I number(const SignedNumbers& numbers, int k) {
    return field(k < 2 ? numbers.first : numbers.second, 16 * (k % 2), 9);
}

// Seven signs in each byte become eight.
[[gnu::always_inline]] inline I make_even(I seven) {
    alignas(16) static constexpr int8_t odd[16] = {0,    -128, -128, 0,    -128, 0,    0,    -128,
                                                   -128, 0,    0,    -128, 0,    -128, -128, 0};
    const I halves = bit_and(bit_xor(seven, shift_right(seven, 4)), splat_bytes(15));
    return bit_or(seven, lookup(table16(odd), halves));
}

[[gnu::always_inline]] inline I even_signs(I bits) {
    I bytes = field(bits, 0, 7);
    for (int k = 1; k < 4; ++k) bytes = bit_or(bytes, shift_left(field(bits, 7 * k, 7), 8 * k));
    return make_even(bytes);
}
[[gnu::always_inline]] inline I even_signs(const SignedNumbers& numbers) {
    auto two = [](I half) { return bit_or(field(half, 9, 7), shift_left(field(half, 25, 7), 8)); };
    return make_even(bit_or(two(numbers.first), shift_left(two(numbers.second), 16)));
}

template <const auto& book, typename Four>
[[gnu::always_inline]] inline Quads signed_points(Four four, I signs) {
    Quads codes;
    for (int i = 0; i < book.fours; ++i) {
        const auto numbers = four(i);
        for (int k = 0; k < 4; ++k) {
            const I point = number(numbers, k);
            if constexpr (book.quads == 8)
                gather_pairs(book.points.data(), point, codes.quads + 2 * k);
            else
                codes.quads[4 * i + k] = gather(book.points.data(), point);
        }
    }
    // Byte k of a lane has the signs of quads 2k and 2k + 1.
    for (int v = 0; v < 8; ++v)
        codes.quads[v] =
            biased(negate_where(codes.quads[v], repeat_byte(signs, v / 2), quad_bits(v)));
    return codes;
}

template <int apart, typename Four>
[[gnu::always_inline]] inline Quads shifted_points(const Four& numbers, I down, int from) {
    alignas(16) static constexpr int8_t levels[16] = {8, 16, 0, 0};
    Quads codes;
    for (int k = 0; k < 4; ++k) {
        const I up = shift_left(bit_xor(field(down, from + k * apart, 1), splat(1)), 1);
        I* const quads = codes.quads + 2 * k;
        gather_pairs(&gguf::iq1s_grid, number(numbers, k), quads);
        for (int i = 0; i < 2; ++i)
            quads[i] = bit_or(lookup(table16(levels), bit_and(quads[i], splat_bytes(3))),
                              repeat_byte(up, 0));
    }
    return codes;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
