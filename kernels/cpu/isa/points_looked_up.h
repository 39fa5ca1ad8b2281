// Points that are looked up in registers (points.h): by bytes of their numbers, bytes of halves of
// points, in which each element is the number of its level; and by that and a sign, its code.
#pragma once

namespace tandem::kernels::cpu::TANDEM_ISA {

// Bytes of four numbers, and what is above them, with other bits above that.
template <int bits, int apart>
[[gnu::always_inline]] inline I low_bytes(const Numbers<bits, apart>& numbers) {
    return numbers.low;
}
template <int bits, int apart>
[[gnu::always_inline]] inline I high_bytes(const Numbers<bits, apart>& numbers) {
    return bits == 0 ? numbers.low
                     : pick_bits<apart, 2 * apart, 3 * apart>(numbers.above, numbers.from);
}
[[gnu::always_inline]] inline I bytes_of_halves(const SignedNumbers& numbers, int from) {
    return join_halves(pick_bits<16, 0, 16>(numbers.first, from),
                       pick_bits<16, 0, 16>(numbers.second, from));
}
[[gnu::always_inline]] inline I low_bytes(const SignedNumbers& numbers) {
    return bytes_of_halves(numbers, 0);
}
[[gnu::always_inline]] inline I high_bytes(const SignedNumbers& numbers) {
    return bytes_of_halves(numbers, 8);
}

// Of the lower seven bits of each byte.
[[gnu::always_inline]] inline I make_even(I seven) {
    alignas(64) static constexpr auto table = [] {
        std::array<uint8_t, 128> all = {};
        for (int i = 0; i < 128; ++i)
            all[size_t(i)] = uint8_t(i | (__builtin_popcount(unsigned(i)) % 2) << 7);
        return all;
    }();
    return lookup_bytes<0, 128>(table.data(), seven, seven);
}
[[gnu::always_inline]] inline I even_signs(I bits) {
    return make_even(pick_bits<7, 14, 21>(bits, 0));
}
[[gnu::always_inline]] inline I even_signs(const SignedNumbers& numbers) {
    return make_even(shift_right(high_bytes(numbers), 1));
}

template <size_t count>
[[gnu::always_inline]] inline I second_halves(const gguf::Halves<count>& halves, I low, I high) {
    return lookup_bytes<0, count>(halves.second.data(), low, high);
}
template <size_t count>
[[gnu::always_inline]] inline I second_halves(const gguf::SteppedHalves<count>& halves, I low,
                                              I high) {
    const I place = splat_bytes(15);  // among 16 neighbours
    const I neighbours = select_bits(place, shift_right(low, 4), shift_left(high, 4));
    auto find = [&](const auto& table) {
        return lookup_bytes<0, count / 16>(table.data(), neighbours, neighbours);
    };
    return select_less_bytes(bit_and(low, place), find(halves.step), find(halves.before),
                             find(halves.after));
}

// The numbers of levels of four points' quads: `bits` of each element, among others.
template <int bits>
struct LevelNumbers {
    I parts[2];

    template <typename Halves, typename Four>
    [[gnu::always_inline]] LevelNumbers(const Halves& halves, const Four& numbers) {
        const I low = low_bytes(numbers), high = high_bytes(numbers);
        const I first = lookup_bytes<0, Halves::size>(halves.first.data(), low, high);
        const I second = second_halves(halves, low, high);
        if constexpr (bits == 2) {
            // Each byte is a quad.
            parts[0] = first, parts[1] = second;
        } else {
            // Each half of a lane becomes a quad: of points with even numbers, and with odd ones.
            const I lower = splat(0x00ff00ff);
            parts[0] = select_bits(lower, first, shift_left(second, 8));
            parts[1] = select_bits(lower, shift_right(first, 8), second);
        }
    }
    // Of quad v, from bit `to` of each byte on.
    template <int to>
    [[gnu::always_inline]] I at(int v) const {
        if constexpr (bits == 2) return pick_bits<2, 4, 6>(parts[v % 2], 8 * (v / 2) - to);
        return pick_bits<3, 8, 11>(parts[v % 2], 16 * (v / 2) - to);
    }
};

// Levels by their numbers and a bit above, which negates; as biased() makes them, repeated.
template <const auto& book>
constexpr std::array<uint8_t, 64> signed_levels() {
    std::array<uint8_t, 64> all = {};
    for (size_t i = 0; i < all.size(); ++i) {
        const int level = book.levels[i % (1 << book.bits)];
        all[i] = uint8_t(signed_bias + (i >> book.bits & 1 ? -level : level));
    }
    return all;
}

template <const auto& book, typename Four>
[[gnu::always_inline]] inline Quads signed_points(Four four, I signs) {
    alignas(64) static constexpr auto table = signed_levels<book>();
    constexpr int bits = book.bits;
    Quads codes;
#pragma GCC unroll 2
    for (int i = 0; i < book.fours; ++i) {
        const LevelNumbers<bits> levels(book.halves, four(i));
#pragma GCC unroll 8
        for (int v = book.quads * i; v < book.quads * (i + 1); ++v) {
            const I negative = pick_bits<1, 2, 3>(signs, 4 * v - bits);
            const I index = select_bits(splat_bytes((1 << bits) - 1),
                                        levels.template at<0>(v % book.quads), negative);
            codes.quads[v] = lookup64(load(table.data()), index);
        }
    }
    return codes;
}

template <int apart, typename Four>
[[gnu::always_inline]] inline Quads shifted_points(const Four& numbers, I down, int from) {
    // Eight times the numbers of levels, and 2 where a point is moved up.
    const LevelNumbers<2> levels(gguf::iq1s_grid_halves, numbers);
    const I two = splat_bytes(2);
    Quads codes;
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) {
        const I is_down = pick_bits<0, 0, 0>(down, from + v / 2 * apart - 1);
        const I up = bit_xor(bit_and(is_down, two), two);
        codes.quads[v] = select_bits(splat_bytes(3 << 3), levels.at<3>(v), up);
    }
    return codes;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
