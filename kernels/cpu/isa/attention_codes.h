// Scores of attention by dot products of pairs of 16-bit integers, twice as fast as those of
// floats. A query and a key have a scale each; rounding takes half as much from a score as rounding
// the key to F16 has taken. They are made of floats in the same memory:
//
//     keys      f32 [elements][cells] -> codes [elements / 2][cells][2], scales [cells]
//     query     f32 [elements] -> codes [elements], its scale
#pragma once

#include "gguf/dtype.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
inline constexpr bool fast_pairs = true;
#else
inline constexpr bool fast_pairs = false;
#endif

// Caches of F32 are there for whom rounding bothers.
inline bool in_codes(const CacheHead& keys) {
    return fast_pairs && gguf::DType(keys.type) != gguf::DType::F32 &&
           keys.length <= Q16Scale::most_elements;
}

// A vector of cells.
inline void encode_keys(int64_t elements, float* keys) {
    constexpr int cells = attention_cells;
    F most = zero(), squares = zero();
    for (int64_t e = 0; e < elements; ++e) most = larger(most, abs(load_f32(keys + e * cells)));
    const F unit = unit_of(most);
    for (int64_t e = 0; e < elements; ++e) {
        const F of_most = mul(load_f32(keys + e * cells), unit);
        squares = fma(of_most, of_most, squares);
    }
    const Q16Scale of(most, mul(most, sqrt(squares)));
    float* pair = keys;
    for (int64_t e = 0; e < elements; e += 2, pair += cells) {
        const I even = q16_code(load_f32(keys + e * cells), of.inverse);
        const I odd = q16_code(load_f32(keys + (e + 1) * cells), of.inverse);
        store(pair, as_float(bit_or(bit_and(even, splat(0xffff)), shift_left(odd, 16))));
    }
    store(pair, of.scale);
}

inline void encode_query(int64_t elements, float* row) {
    const float most = largest_magnitude(row, elements);
    const F unit = unit_of(splat(most));
    F squares = zero();
    for (int64_t e = 0; e < elements; e += lanes) {
        const F of_most = mul(load_f32(row + e), unit);
        squares = fma(of_most, of_most, squares);
    }
    const Q16Scale of(splat(most), mul(splat(most), sqrt(splat(sum(squares)))));
    auto* codes = reinterpret_cast<int16_t*>(row);
    for (int64_t e = 0; e < elements; e += lanes)
        store_halves(codes + e, q16_code(load_f32(row + e), of.inverse));
    alignas(64) float scales[lanes];
    store(scales, of.scale);
    row[elements / 2] = scales[0];
}

// Scores of two vectors of cells with some queries, which lie one behind the other, to rows of all
// cells.
template <int queries>
inline void multiply_codes(const float* q, const float* keys, int64_t elements, float* scores) {
    constexpr int cells = attention_cells;
    const auto* codes = reinterpret_cast<const uint8_t*>(keys);
    const auto* of_queries = reinterpret_cast<const int8_t*>(q);
    I sums[queries][2];
    for (auto& of_query : sums) of_query[0] = of_query[1] = splat(0);
    for (int64_t pair = 0; pair < elements / 2; ++pair, codes += cells * 4, of_queries += 4) {
        const I column[2] = {load(codes), load(codes + 4 * lanes)};
#pragma GCC unroll 8
        for (int i = 0; i < queries; ++i) {
            const I x = splat_quad(of_queries + i * elements * 4);
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) sums[i][j] = dot_pairs(sums[i][j], column[j], x);
        }
    }
    const float* scales = keys + elements / 2 * cells;
    const float* of_query = q + elements / 2;
#pragma GCC unroll 8
    for (int i = 0; i < queries; ++i, scores += cells, of_query += elements)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j)
            store(scores + j * lanes,
                  mul(mul(to_float(sums[i][j]), load_f32(scales + j * lanes)), splat(*of_query)));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
