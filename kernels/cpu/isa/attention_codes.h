// Both products of attention by dot products of pairs of 16-bit integers, twice as fast as those of
// floats. A query, a key and a value have a scale each, and so have the second parts of queries and
// keys. Weights get the scales of the values, and then one for each few cells, by their sum, so
// that these add up in integers. Rounding takes half as much from a result as rounding keys and
// values to F16 has taken. They are made of floats, queries and weights in their place:
//
//     query     f32 [elements] -> codes [elements], its scale
//     keys      f32 [columns][elements] -> codes [elements / 2][columns][2], scales [columns]
//     values    f32 [cells][elements] -> codes [cells / 2][elements][2], and scales elsewhere
//     weights   f32 [queries][cells] -> codes [queries][cells], from the same row on
#pragma once

#include "gguf/dtype.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Caches of F32 are there for whom rounding bothers.
inline bool in_codes(const CacheHead& cache) {
    return fast_pairs && gguf::DType(cache.type) != gguf::DType::F32 &&
           cache.length <= Q16Scale::most_elements;
}

// Columns of keys that lie together: as many as a tile has.
inline constexpr int key_columns = 2 * lanes;

// A vector for each row, whose largest lane is its largest magnitude. All rows at once, so that
// none waits for itself.
template <int count>
inline void largest_of_rows(int64_t elements, const float* rows, int64_t stride, F (&most)[count]) {
    for (F& of_row : most) of_row = zero();
    for (int64_t e = 0; e < elements; e += lanes)
#pragma GCC unroll 16
        for (int i = 0; i < count; ++i)
            most[i] = larger(most[i], abs(load_f32(rows + i * stride + e)));
}

// Of some rows at once, each in the place of its floats. Each row's scale lies in so many lanes of
// the result as there are for it.
template <int count>
inline F encode_rows(int64_t elements, float* rows, int64_t stride) {
    constexpr int lanes_of_row = lanes / count;
    F of_row[count];
    largest_of_rows<count>(elements, rows, stride, of_row);
    const F most = join_rows<count>(of_row, larger);
    alignas(64) float unit[lanes], inverse[lanes];
    store(unit, unit_of(most));
    for (F& sum : of_row) sum = zero();
    for (int64_t e = 0; e < elements; e += lanes)
#pragma GCC unroll 16
        for (int i = 0; i < count; ++i) {
            const F of_most = mul(load_f32(rows + i * stride + e), splat(unit[i * lanes_of_row]));
            of_row[i] = fma(of_most, of_most, of_row[i]);
        }
    const F squares = join_rows<count>(of_row, [](F a, F b) { return add(a, b); });
    const Q16Scale of(most, mul(most, sqrt(squares)));
    store(inverse, of.inverse);
    for (int i = 0; i < count; ++i, rows += stride) {
        auto* codes = reinterpret_cast<int16_t*>(rows);
        for (int64_t e = 0; e < elements; e += lanes)
            store_halves(codes + e, q16_code(load_f32(rows + e), splat(inverse[i * lanes_of_row])));
    }
    return of.scale;
}

// Queries that lie `stride` floats apart.
template <int count>
inline void encode_query_rows(int64_t elements, float* rows, int64_t stride) {
    alignas(64) float scales[lanes];
    store(scales, encode_rows<count>(elements, rows, stride));
    for (int i = 0; i < count; ++i) rows[i * stride + elements / 2] = scales[i * (lanes / count)];
}

// Scores of two vectors of cells with some queries, which lie `stride` floats apart, to rows of all
// cells. `add`: to the scores of other elements.
template <int queries, bool add>
inline void multiply_codes(const float* q, int64_t stride, const float* keys, int64_t elements,
                           float* scores) {
    const auto* codes = reinterpret_cast<const uint8_t*>(keys);
    const auto* of_queries = reinterpret_cast<const int8_t*>(q);
    I sums[queries][2];
    for (auto& of_query : sums) of_query[0] = of_query[1] = splat(0);
    for (int64_t pair = 0; pair < elements / 2; ++pair, codes += key_columns * 4, of_queries += 4) {
        const I column[2] = {load(codes), load(codes + 4 * lanes)};
#pragma GCC unroll 8
        for (int i = 0; i < queries; ++i) {
            const I x = splat_quad(of_queries + i * stride * 4);
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) sums[i][j] = dot_pairs(sums[i][j], column[j], x);
        }
    }
    const float* scales = keys + elements / 2 * key_columns;
    const float* of_query = q + elements / 2;
#pragma GCC unroll 8
    for (int i = 0; i < queries; ++i, scores += attention_cells, of_query += stride)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
            const F sum = mul(to_float(sums[i][j]), load_f32(scales + j * lanes));
            const F query_scale = splat(*of_query);
            store(scores + j * lanes, add ? fma(sum, query_scale, load_f32(scores + j * lanes))
                                          : mul(sum, query_scale));
        }
}

// Those of one vector of cells, rows [lanes][elements]. Values below 1e-28 count as nothing.
inline void encode_values(int64_t elements, const float* rows, float* pairs, float* scales) {
    F most_of[lanes];
    largest_of_rows<lanes>(elements, rows, elements, most_of);
    const Q16Scale of(join_rows(most_of, larger), zero());
    alignas(64) float inverse[lanes];
    store(scales, of.scale);
    store(inverse, of.inverse);
    for (int i = 0; i < lanes; i += 2, rows += 2 * elements, pairs += elements)
        for (int64_t e = 0; e < elements; e += lanes)
            store(pairs + e, as_float(pair_of(
                                 q16_code(load_f32(rows + e), splat(inverse[i])),
                                 q16_code(load_f32(rows + elements + e), splat(inverse[i + 1])))));
}

// Cells whose products with weights are added in integers.
inline constexpr int64_t cells_of_sum = 32;

// Calls visit(first, last) for such parts of [from, to).
template <typename Visit>
inline void each_sum(int64_t from, int64_t to, Visit visit) {
    for (; from < to; from += cells_of_sum)
        visit(from, to - from < cells_of_sum ? to : from + cells_of_sum);
}

// Weights of some queries and cells [from, to), whole vectors. Each query's scale lies in so many
// lanes of the result as there are for it.
template <int queries>
inline F encode_weights(float* weights, const float* value_scales, int64_t from, int64_t to) {
    auto weight = [&](int i, int64_t c) {
        return mul(load_f32(weights + i * attention_cells + c), load_f32(value_scales + c));
    };
    F most_of[queries], sum_of[queries];
    for (int i = 0; i < queries; ++i) {
        most_of[i] = sum_of[i] = zero();
        each_sum(from, to, [&](int64_t first, int64_t last) {
            F sum = zero();
            for (int64_t c = first; c < last; c += lanes) {
                const F w = weight(i, c);
                most_of[i] = max(most_of[i], w);
                sum = add(sum, w);
            }
            sum_of[i] = larger(sum_of[i], abs(sum));
        });
    }
    const F most = join_rows<queries>(most_of, [](F a, F b) { return max(a, b); });
    const F sum = join_rows<queries>(sum_of, [](F a, F b) { return add(a, b); });
    const auto of = Q16Scale::of_sum(most, sum);
    alignas(64) float inverse[lanes];
    store(inverse, of.inverse);
    for (int i = 0; i < queries; ++i) {
        auto* codes = reinterpret_cast<int16_t*>(weights + i * attention_cells);
        const F of_code = splat(inverse[i * (lanes / queries)]);
        for (int64_t c = from; c < to; c += lanes)
            store_halves(codes + c, q16_code(weight(i, c), of_code));
    }
    return of.scale;
}

// Adds the values of cells [from, to), at most cells_of_sum, each times its weight, to out, rows of
// all elements.
template <int queries, int vectors>
inline void multiply_values(const float* weights, const float* values, const float* scales,
                            int64_t elements, int64_t from, int64_t to, float* out) {
    const auto* codes = reinterpret_cast<const uint8_t*>(values + from / 2 * elements);
    const auto* of_queries = reinterpret_cast<const int8_t*>(weights) + 2 * from;
    I sums[queries][vectors];
    for (auto& of_query : sums)
        for (I& sum : of_query) sum = splat(0);
    for (int64_t c = from; c < to; c += 2, codes += elements * 4, of_queries += 4) {
        I row[vectors];
        for (int j = 0; j < vectors; ++j) row[j] = load(codes + j * 4 * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < queries; ++i) {
            const I x = splat_quad(of_queries + i * attention_cells * 4);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) sums[i][j] = dot_pairs(sums[i][j], row[j], x);
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
