// Both products of attention by dot products of pairs of 16-bit integers, twice as fast as those of
// floats. Each number x becomes a code (q16_code.h):
//
//     code = round(x / scale)                      // halves to even
//     scale of a query or a key = max(largest |x| / 32766, length as a vector / 46324)
//     scale of a value = largest |x| / 32766
//     scale of a query's weights = max(largest x / 32766, bound of sums of 32 x / 65516)
//
// where x of a weight is the weight times the scale of its cell's value, and the bound adds up the
// largest sum of each lane. The second terms keep sums of products within 32 bits: those of 32
// cells add up in integers. Where keys have a second part, each part of a query and of a key has a
// scale of its own, as their magnitudes differ, and a row that is key and value as well has the
// scale of the key for both. Rounding takes half as much from a result as rounding keys and values
// to F16 has taken, and as much where a row of 512 is both. Codes are made of floats in the same
// memory:
//
//     query     f32 [elements] -> codes [elements], its scale
//     keys      f32 [elements][columns] -> codes [elements / 2][columns][2], scales [columns]
//     values    f32 [cells][elements] -> codes [cells / 2][elements][2], and scales elsewhere
//     weights   f32 [queries][cells] -> codes [queries][cells], from the same row on
#pragma once

#include "gguf/dtype.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/attention_cells.h"
#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Caches of F32 are for those who want no rounding.
inline bool in_codes(const CacheHead& cache) {
    return fast_pairs && gguf::DType(cache.type) != gguf::DType::F32 &&
           cache.length <= Q16Scale::most_elements;
}

// The lengths, as vectors, of as many rows as there are lanes, whatever their magnitudes.
inline F row_lengths(int64_t elements, const float* rows, F most) {
    alignas(64) float units[lanes];
    store(units, unit_of(most));
    F squares[lanes];
    for (int i = 0; i < lanes; ++i, rows += elements) {
        squares[i] = zero();
        for (int64_t e = 0; e < elements; e += lanes)
            squares[i] = add_square(squares[i], load_f32(rows + e), splat(units[i]));
    }
    return length_of(most, sums(squares));
}
// Whether squares of rows are floats that say as much: none of their sums is infinite, and those
// with fewer bits add up to less than the last bit of the largest.
inline bool have_squares(F most) {
    alignas(64) float of_rows[lanes];
    store(of_rows, most);
    bool all = true;
    for (float of_row : of_rows) all &= of_row == 0 || (of_row > 1e-12f && of_row < 1e15f);
    return all;
}

// As many rows as there are lanes, each as encode_query() makes one, but for last bits. Where keys
// are values as well, the same codes become pairs as encode_values() makes them, and the scales go
// where those do.
template <bool values_too>
inline void encode_rows(int64_t elements, float* rows, float* value_scales, float* values) {
    F most_of[lanes], squares_of[lanes];
    for (int i = 0; i < lanes; ++i) {
        most_of[i] = squares_of[i] = zero();
        for (int64_t e = 0; e < elements; e += lanes) {
            const F x = load_f32(rows + i * elements + e);
            most_of[i] = larger(most_of[i], abs(x));
            squares_of[i] = fma(x, x, squares_of[i]);
        }
    }
    const F most = join_rows(most_of, larger);
    const Q16Scale scale(
        most, have_squares(most) ? sqrt(sums(squares_of)) : row_lengths(elements, rows, most));
    alignas(64) float scales[lanes], inverse[lanes];
    store(scales, scale.value);
    store(inverse, scale.inverse);
    if (values_too) store(value_scales, scale.value);
    for (int i = 0; i < lanes; i += 2) {
        float *even = rows + i * elements, *odd = even + elements;
        auto* even_codes = reinterpret_cast<int16_t*>(even);
        auto* odd_codes = reinterpret_cast<int16_t*>(odd);
        for (int64_t e = 0; e < elements; e += lanes) {
            const I x = q16_code(load_f32(even + e), splat(inverse[i]));
            const I y = q16_code(load_f32(odd + e), splat(inverse[i + 1]));
            store_halves(even_codes + e, x);
            store_halves(odd_codes + e, y);
            if (values_too) store(values + i / 2 * elements + e, as_float(pair_of(x, y)));
        }
        even[elements / 2] = scales[i];
        odd[elements / 2] = scales[i + 1];
    }
}

// Cells whose keys lie side by side: those of two vectors, as a tile of queries reads them.
inline constexpr int key_columns = 2 * lanes;

// Those of one vector of cells.
inline void encode_keys(int64_t elements, float* keys) {
    F most = zero(), squares = zero();
    for (int64_t e = 0; e < elements; ++e)
        most = larger(most, abs(load_f32(keys + e * key_columns)));
    const F unit = unit_of(most);
    for (int64_t e = 0; e < elements; ++e)
        squares = add_square(squares, load_f32(keys + e * key_columns), unit);
    const Q16Scale scale(most, length_of(most, squares));
    float* pair = keys;
    for (int64_t e = 0; e < elements; e += 2, pair += key_columns) {
        const I even = q16_code(load_f32(keys + e * key_columns), scale.inverse);
        const I odd = q16_code(load_f32(keys + (e + 1) * key_columns), scale.inverse);
        store(pair, as_float(pair_of(even, odd)));
    }
    store(pair, scale.value);
}

inline void encode_query(int64_t elements, float* row) {
    const F most = splat(largest_magnitude(row, elements)), unit = unit_of(most);
    F squares = zero();
    for (int64_t e = 0; e < elements; e += lanes)
        squares = add_square(squares, load_f32(row + e), unit);
    const Q16Scale scale(most, length_of(most, splat(sum(squares))));
    auto* codes = reinterpret_cast<int16_t*>(row);
    for (int64_t e = 0; e < elements; e += lanes)
        store_halves(codes + e, q16_code(load_f32(row + e), scale.inverse));
    alignas(64) float scales[lanes];
    store(scales, scale.value);
    row[elements / 2] = scales[0];
}

// What is read after a product, which asks memory for it: a line with each pair of elements, in
// rounds until all is asked for.
struct Meanwhile {
    const uint8_t* lines = nullptr;
    int64_t bytes = 0;
};

// Scores of the cells of key_columns with some queries, every `stride` floats, to rows of all
// cells; or adds this part of them.
template <int queries, bool adds>
inline void multiply_codes(const float* q, int64_t stride, const float* keys, int64_t elements,
                           float* scores, Meanwhile meanwhile) {
    const auto* codes = reinterpret_cast<const uint8_t*>(keys);
    const auto* of_queries = reinterpret_cast<const int8_t*>(q);
    I sums[queries][2];
    for (auto& of_query : sums) of_query[0] = of_query[1] = splat(0);
    for (int64_t pair = 0; pair < elements / 2; ++pair, codes += key_columns * 4, of_queries += 4) {
        const I column[2] = {load(codes), load(codes + 4 * lanes)};
        for (int64_t at = 64 * pair; at < meanwhile.bytes; at += 32 * elements)
            prefetch_far(meanwhile.lines + at);
#pragma GCC unroll 8
        for (int i = 0; i < queries; ++i) {
            const I x = splat_quad(of_queries + i * stride * 4);
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) sums[i][j] = in_order(dot_pairs(sums[i][j], column[j], x));
        }
    }
    const float* scales = keys + elements / 2 * key_columns;
    const float* of_query = q + elements / 2;
#pragma GCC unroll 8
    for (int i = 0; i < queries; ++i, scores += attention_cells, of_query += stride)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
            const F of_key = mul(to_float(sums[i][j]), load_f32(scales + j * lanes));
            const F score = mul(of_key, splat(*of_query));
            float* to = scores + j * lanes;
            store(to, adds ? add(load_f32(to), score) : score);
        }
}

// `count` cells, whole vectors of them. Values below 1e-28 count as nothing.
inline void encode_values(int64_t count, int64_t elements, float* values, float* scales) {
    float* pair = values;
    for (int64_t c = 0; c < count; c += lanes) {
        F most_of[lanes];
        for (int i = 0; i < lanes; ++i) {
            most_of[i] = zero();
            for (int64_t e = 0; e < elements; e += lanes)
                most_of[i] = larger(most_of[i], abs(load_f32(values + (c + i) * elements + e)));
        }
        const Q16Scale scale(join_rows(most_of, larger), zero());
        alignas(64) float inverse[lanes];
        store(scales + c, scale.value);
        store(inverse, scale.inverse);
        for (int i = 0; i < lanes; i += 2, pair += elements) {
            const float *even = values + (c + i) * elements, *odd = even + elements;
            for (int64_t e = 0; e < elements; e += lanes)
                store(pair + e,
                      as_float(pair_of(q16_code(load_f32(even + e), splat(inverse[i])),
                                       q16_code(load_f32(odd + e), splat(inverse[i + 1])))));
        }
    }
}

// Cells whose products with weights are added in integers.
inline constexpr int64_t cells_of_sum = 32;
static_assert(cells_of_sum % key_columns == 0);

// Calls visit(Cells) for such parts of some cells. They end at multiples, wherever cells begin: at
// any multiple of key_columns.
template <typename Visit>
inline void each_sum(Cells cells, Visit visit) {
    for (auto [from, to] = cells; from < to;) {
        const int64_t behind = key_columns < cells_of_sum ? from % cells_of_sum : 0;
        const int64_t end = from + cells_of_sum - behind;
        visit(Cells{from, to < end ? to : end});
        from = end;
    }
}

// Weights of some queries and cells, whole vectors. Each query's scale lies in so many lanes of the
// result as there are for it.
template <int queries>
inline F encode_weights(float* weights, const float* value_scales, Cells cells) {
    auto weight = [&](int i, int64_t c) {
        return mul(load_f32(weights + i * attention_cells + c), load_f32(value_scales + c));
    };
    F most_of[queries], sum_of[queries];
    for (int i = 0; i < queries; ++i) {
        most_of[i] = sum_of[i] = zero();
        each_sum(cells, [&](Cells part) {
            F sum = zero();
            for (int64_t c = part.from; c < part.to; c += lanes) {
                const F w = weight(i, c);
                most_of[i] = max(most_of[i], w);
                sum = add(sum, w);
            }
            sum_of[i] = larger(sum_of[i], abs(sum));
        });
    }
    const F most = join_rows<queries>(most_of, [](F a, F b) { return max(a, b); });
    const F sum = join_rows<queries>(sum_of, [](F a, F b) { return add(a, b); });
    const auto scale = Q16Scale::of_sum(most, sum);
    alignas(64) float inverse[lanes];
    store(inverse, scale.inverse);
    for (int i = 0; i < queries; ++i) {
        auto* codes = reinterpret_cast<int16_t*>(weights + i * attention_cells);
        const F of_code = splat(inverse[i * (lanes / queries)]);
        for (int64_t c = cells.from; c < cells.to; c += lanes)
            store_halves(codes + c, q16_code(weight(i, c), of_code));
    }
    return scale.value;
}

// Adds the values of some cells, at most cells_of_sum, each times its weight, to out, rows of all
// elements.
template <int queries, int vectors>
inline void multiply_values(const float* weights, const float* values, const float* scales,
                            int64_t elements, Cells cells, float* out) {
    const auto* codes = reinterpret_cast<const uint8_t*>(values + cells.from / 2 * elements);
    const auto* of_queries = reinterpret_cast<const int8_t*>(weights) + 2 * cells.from;
    I sums[queries][vectors];
    for (auto& of_query : sums)
        for (I& sum : of_query) sum = splat(0);
    for (int64_t c = cells.from; c < cells.to; c += 2, codes += elements * 4, of_queries += 4) {
        I row[vectors];
        for (int j = 0; j < vectors; ++j) row[j] = load(codes + j * 4 * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < queries; ++i) {
            const I x = splat_quad(of_queries + i * attention_cells * 4);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j)
                sums[i][j] = in_order(dot_pairs(sums[i][j], row[j], x));
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < queries; ++i, out += elements)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j)
            store(out + j * lanes, fma(to_float(sums[i][j]), splat(scales[i * (lanes / queries)]),
                                       load_f32(out + j * lanes)));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
