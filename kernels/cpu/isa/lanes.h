// What mixes lanes, in log2(lanes) rounds that exchange blocks of them. As many vectors as each has
// lanes are seen as a square matrix: sums of its rows, and its transpose.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Lane i of the result is what `join` makes of row[i]'s lanes, in any order. Of fewer rows, a
// divisor of lanes, each has as many lanes side by side as there are for it.
template <int Count = lanes, int Size = lanes / 2, typename Join>
inline F join_rows(F* row, Join join) {
    constexpr int half = Count > 1 ? Count / 2 : 1;
    for (int i = 0; i < half; ++i) {
        const F other = row[i + Count / 2];
        row[i] = join(kept_blocks<Size>(row[i], other), swapped_blocks<Size>(row[i], other));
    }
    if constexpr (Size > 1) return join_rows<half, Size / 2>(row, join);
    return row[0];
}

inline F sums(F (&row)[lanes]) {
    return join_rows(row, [](F a, F b) { return add(a, b); });
}

// Each two neighbours of a's blocks of `Size` lanes added up, followed by those of b at the same
// place; in halves of lanes if that is what sums are in.
template <int Size, bool in_halves = false>
inline I add_neighbours(I a, I b) {
    const F first = as_float(a), last = as_float(b);
    const I even = as_int(even_blocks<Size>(first, last)),
            odd = as_int(odd_blocks<Size>(first, last));
    return in_halves ? add_in_halves(even, odd) : add(even, odd);
}

// Of words of 4 bytes: the products of every two neighbours. Lane n of the result has those of a's,
// or b's where n is odd.
template <typename Dot>
inline I dot_neighbours(I a, I b, Dot dot_words) {
    const F first = as_float(a), last = as_float(b);
    return dot_words(as_int(even_blocks<1>(first, last)), as_int(odd_blocks<1>(first, last)));
}

template <int Size = lanes / 2>
inline void transpose(F (&row)[lanes]) {
    for (int i = 0; i < lanes; ++i) {
        if (i / Size % 2) continue;
        F even = even_blocks<Size>(row[i], row[i + Size]);
        row[i + Size] = odd_blocks<Size>(row[i], row[i + Size]);
        row[i] = even;
    }
    if constexpr (Size > 1) transpose<Size / 2>(row);
}

// The transpose of a square in memory, whose rows lie so many floats apart.
[[gnu::always_inline]] inline void transpose_square(const float* from, int64_t from_stride,
                                                    float* to, int64_t to_stride) {
    F square[lanes];
    for (int i = 0; i < lanes; ++i) square[i] = load_f32(from + i * from_stride);
    transpose(square);
    for (int i = 0; i < lanes; ++i) store(to + i * to_stride, square[i]);
}

// Every lane gets what `join` makes of `Width` neighbours.
template <int Width = lanes, typename Join>
inline F spread(F x, Join join) {
    if constexpr (Width == 1) {
        return x;
    } else {
        constexpr int half = Width / 2;
        return spread<half>(join(even_blocks<half>(x, x), odd_blocks<half>(x, x)), join);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
