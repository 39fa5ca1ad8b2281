// Attention of few queries over caches whose rows are blocks of a scale and 32 codes. Codes are
// multiplied as the integers that they are, by queries and weights that are rounded to 16 bits,
// which takes as little from results as in attention_codes.h:
//
//     score[i][c] = scale(i) * sum over blocks b of scale(c, b) * sum of code(c, e) * code(i, e)
//     out[i][e] = scale(i, b) * sum over cells c of code(c, e) * code(i, c, b)
//
// code(i, e) are those of a query, and code(i, c, b) those of its weights, each times the scale of
// the block of a cell that e lies in.
//
// For scores, lanes are cells, so that none is spread over lanes: as many rows as there are lanes
// are transposed, in words of 4 bytes. For values, lanes are words of a row.
#pragma once

#include "kernels/cpu/isa/cache_rows.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/q16_code.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int most_queries = 8;         // the most of a tile
inline constexpr int64_t most_elements = 512;  // the most of a row
inline constexpr int vector_codes = 4 * lanes, vector_blocks = vector_codes / 32;

// Vectors of codes as bytes without sign, `zero` more than they are.
struct Codes8 {
    static constexpr int bytes = q8_0_bytes, zero = 128;
    [[gnu::always_inline]] static I load(const uint8_t* blocks) {
        return bit_xor(load_blocks(blocks + 2, bytes), splat_bytes(0x80));
    }
};
// The lower nibbles of 16 bytes are the first 16 codes, the upper ones the others.
struct LowerNibbles {
    alignas(64) uint8_t bits[64] = {};
    constexpr LowerNibbles() {
        for (int i = 0; i < 64; ++i) bits[i] = i % 32 < 16 ? 15 : 0;
    }
};
inline constexpr LowerNibbles lower_nibbles;
struct Codes4 {
    static constexpr int bytes = q4_0_bytes, zero = 8;
    [[gnu::always_inline]] static I load(const uint8_t* blocks) {
        const uint8_t* at[lanes / 4];
        for (int part = 0; part < lanes / 4; ++part) at[part] = blocks + part / 2 * bytes + 2;
        const I both = load_parts(at), lower = TANDEM_ISA::load(lower_nibbles.bits);
        const I upper = bit_xor(lower, splat_bytes(15));
        return bit_or(bit_and(both, lower), bit_and(shift_right(both, 4), upper));
    }
};

// Calls use(codes) with the codes of a type. Whether it has any.
template <typename Use>
inline bool with_codes(int type, Use use) {
    switch (gguf::DType(type)) {
        case gguf::DType::Q8_0:
            use(Codes8());
            return true;
        case gguf::DType::Q4_0:
            use(Codes4());
            return true;
        default:
            return false;
    }
}

inline bool has_codes(int type) {
    return with_codes(type, [](auto) {});
}

// Fewer cells are not worth the way to integers.
inline constexpr int64_t enough_cells = 64;
// Whether `count` rows of a cache have codes, in whole vectors, and are so many.
inline bool has_enough_codes(const CacheHead& cache, int64_t count) {
    return has_codes(cache.type) && count >= enough_cells && cache.length % vector_codes == 0 &&
           cache.length <= most_elements;
}
// Of fewer queries, floats take less time.
inline constexpr int enough_queries = 3;
template <int queries>
inline constexpr bool by_codes = fast_pairs && (queries >= enough_queries);

// Memory of a call, behind the scores and queries of others.
struct CodesScratch {
    // Of each query's cells, and zeros that fill up vectors of 16-bit integers.
    static constexpr int64_t row_cells = attention_part + lanes;
    static_assert(attention_part % (2 * lanes) == 0);

    alignas(64) float rows[most_queries][row_cells];  // scores, or weights
    alignas(64) float scales[vector_blocks][row_cells];
    alignas(64) int16_t codes[most_queries][vector_blocks][row_cells];
    alignas(64) int16_t query_codes[most_queries][most_elements];
    int32_t begins[most_queries][most_elements / 32];  // of sums of 32 products
    alignas(64) uint8_t copies[lanes * most_elements / 32 * Codes8::bytes];
};

static_assert(sizeof(CodesScratch) + 64 +
                  most_queries * (attention_part + most_lanes) * sizeof(float) <=
              attention_scratch(0, 0) * sizeof(float));
inline CodesScratch& codes_scratch(float* memory) {
    const auto address = (reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64;
    return *reinterpret_cast<CodesScratch*>(address);
}

// Each second byte of every word, in the halves of lanes.
[[gnu::always_inline]] inline I even_bytes(I words) { return bit_and(words, splat(0x00ff00ff)); }
[[gnu::always_inline]] inline I odd_bytes(I words) { return even_bytes(shift_right(words, 8)); }

// The scale of numbers, from their largest magnitude alone, and their codes: sums of products with
// bytes of all cells of a part have 32 bits.
struct Rounding {
    static_assert(Codes8::zero * attention_part * int64_t(Q16Scale::largest) < int64_t(1) << 31);
    float scale, inverse;

    explicit Rounding(float most) {
        const Q16Scale q16(splat(most), zero());
        alignas(64) float lane[2][lanes];
        store(lane[0], q16.value);
        store(lane[1], q16.inverse);
        scale = lane[0][0];
        inverse = lane[1][0];
    }
    void encode(F numbers, int16_t* to) const {
        store_halves(to, q16_code(numbers, splat(inverse)));
    }
};

// Of whole vectors of them.
inline int32_t sum_of(const int16_t* codes, int64_t count) {
    I total = splat(0);
    for (int64_t i = 0; i < count; i += 2 * lanes)
        total = dot_pairs(total, load(reinterpret_cast<const uint8_t*>(codes + i)), splat(0x10001));
    return sum(total);
}

// Rows of as many cells as there are lanes, from c on, side by side: where they lie, or where they
// go round the end of a run or are not all there, copies.
inline const uint8_t* rows_from(const CacheRun& run, int64_t c, int64_t count, CodesScratch& s) {
    if (c + lanes <= count && run.lie_together(c, c + lanes)) return run.row(c);
    for (int64_t i = 0; i < lanes; ++i)
        std::memcpy(s.copies + i * run.stride, run.row(c + i < count ? c + i : count - 1),
                    size_t(run.stride));
    return s.copies;
}

// The scales of a block of each of such rows.
template <class Codes>
[[gnu::always_inline]] inline F scales_of(const uint8_t* rows, int64_t stride, int64_t block) {
    alignas(64) uint16_t scales[lanes];
    for (int i = 0; i < lanes; ++i)
        std::memcpy(scales + i, rows + i * stride + block * Codes::bytes, 2);
    return load_f16(scales);
}

// The codes of queries, q [queries][length], in the order of even_bytes() and odd_bytes().
template <int queries>
inline void encode_queries(const float* q, int64_t length, int zero_code, CodesScratch& s,
                           float (&scales)[queries]) {
    for (int i = 0; i < queries; ++i, q += length) {
        const Rounding rounding(largest_magnitude(q, length));
        scales[i] = rounding.scale;
        int16_t* const codes = s.query_codes[i];
        for (int64_t e = 0; e < length; e += lanes) rounding.encode(load_f32(q + e), codes + e);
        for (int64_t e = 0; e < length; e += 32)
            s.begins[i][e / 32] = -zero_code * sum_of(codes + e, 32);
        for (int64_t e = 0; e < length; e += 4) {
            const int16_t second = codes[e + 1];
            codes[e + 1] = codes[e + 2];
            codes[e + 2] = second;
        }
    }
}

// Scores of `count` cells, to s.rows. Meanwhile their values come from memory.
template <int queries, class Codes>
inline void multiply_key_codes(const CacheHead& keys, const CacheRun& run, const CacheRun& values,
                               int64_t count, const float* q, CodesScratch& s) {
    float scales[queries];
    encode_queries(q, keys.length, Codes::zero, s, scales);
    for (int64_t c = 0; c < count; c += lanes) {
        const uint8_t* const rows = rows_from(run, c, count, s);
        run.fetch_ahead(run.row(c), lanes);
        for (int64_t at = 0; at < lanes * values.stride; at += 64) prefetch_far(values.row(c) + at);
        F totals[queries], nan_or_zero = zero();
        for (F& total : totals) total = zero();
        for (int64_t b = 0; b < keys.length / 32; b += vector_blocks) {
            F words[lanes];
            for (int i = 0; i < lanes; ++i)
                words[i] = as_float(Codes::load(rows + i * run.stride + b * Codes::bytes));
            transpose(words);
            for (int n = 0; n < vector_blocks; ++n) {
                I sums[queries];
                for (int i = 0; i < queries; ++i) sums[i] = splat(s.begins[i][b + n]);
#pragma GCC unroll 8
                for (int j = 0; j < 8; ++j) {
                    const I word = as_int(words[8 * n + j]);
                    const I even = even_bytes(word), odd = odd_bytes(word);
                    for (int i = 0; i < queries; ++i) {
                        const auto* quad = reinterpret_cast<const int8_t*>(s.query_codes[i] +
                                                                           32 * (b + n) + 4 * j);
                        sums[i] = in_order(dot_pairs(sums[i], even, splat_quad(quad)));
                        sums[i] = in_order(dot_pairs(sums[i], odd, splat_quad(quad + 4)));
                    }
                }
                const F scale = scales_of<Codes>(rows, run.stride, b + n);
                nan_or_zero = fma(scale, zero(), nan_or_zero);
                for (int i = 0; i < queries; ++i)
                    totals[i] = fma(to_float(sums[i]), scale, totals[i]);
            }
        }
        for (int i = 0; i < queries; ++i)
            store(s.rows[i] + c, mul(add(totals[i], nan_or_zero), splat(scales[i])));
    }
}

// Codes of the weights in s.rows, times the scales of each block in s.scales, of `count` cells,
// whole vectors of integers.
struct WeightCodes {
    float scale[most_queries][vector_blocks];
    int32_t begin[most_queries][vector_blocks];  // of their sums

    WeightCodes(int queries, int64_t count, int zero_code, CodesScratch& s) {
        for (int i = 0; i < queries; ++i)
            for (int n = 0; n < vector_blocks; ++n) {
                auto weights = [&](int64_t c) {
                    return mul(load_f32(s.rows[i] + c), load_f32(s.scales[n] + c));
                };
                I most = splat(0);
                for (int64_t c = 0; c < count; c += lanes)
                    most = max(most, as_int(abs(weights(c))));
                const Rounding rounding(largest_float(most));
                for (int64_t c = 0; c < count; c += lanes)
                    rounding.encode(weights(c), s.codes[i][n] + c);
                scale[i][n] = rounding.scale;
                begin[i][n] = -zero_code * sum_of(s.codes[i][n], count);
            }
    }
};

// Numbers of each block of a vector in its lanes, which lie so many bytes apart.
template <typename Number>
[[gnu::always_inline]] inline I splat_of_blocks(const Number* first, int64_t apart) {
    return splat_blocks(reinterpret_cast<const int8_t*>(first), apart);
}

// Sums of products of some queries' weights, from `first` on, and block b of `count` cells and what
// follows it in a vector: of each fourth element.
template <class Codes, int queries>
[[gnu::always_inline]] inline void add_words(const CacheRun& run, int64_t count, int64_t b,
                                             int first, CodesScratch& s, I (&sums)[queries][4]) {
    for (int64_t from = 0; from < count; from += lanes) {
        const uint8_t* row = rows_from(run, from, count, s) + b * Codes::bytes;
        for (int64_t c = from; c < from + lanes; c += 2, row += 2 * run.stride) {
            const I even = Codes::load(row), odd = Codes::load(row + run.stride);
            const I lower = pair_of(even, odd), upper = join_halves(shift_right(even, 16), odd);
            const I pairs[4] = {even_bytes(lower), odd_bytes(lower), even_bytes(upper),
                                odd_bytes(upper)};
            for (int i = 0; i < queries; ++i) {
                const I weights = splat_of_blocks(s.codes[first + i][0] + c, sizeof s.codes[0][0]);
                for (int j = 0; j < 4; ++j)
                    sums[i][j] = in_order(dot_pairs(sums[i][j], pairs[j], weights));
            }
        }
    }
}

// out = weights v, of the weights in s.rows, behind which there are zeros.
template <int queries, class Codes>
inline void add_value_codes(const CacheHead& values, const CacheRun& run, int64_t count,
                            CodesScratch& s, float* const* out) {
    constexpr int together = lanes == 16 ? 4 : 2;  // queries for whose sums there are registers
    const int64_t padded = (count + 2 * lanes - 1) / (2 * lanes) * (2 * lanes);
    for (int64_t b = 0; b < values.length / 32; b += vector_blocks) {
        for (int64_t c = 0; c < padded; c += lanes) {
            const uint8_t* const rows = rows_from(run, c < count ? c : 0, count, s);
            for (int n = 0; n < vector_blocks; ++n)
                store(s.scales[n] + c, scales_of<Codes>(rows, run.stride, b + n));
        }
        const WeightCodes weights(queries, padded, Codes::zero, s);
        for (int first = 0; first < queries; first += together) {
            I sums[together][4];
            for (int i = 0; i < together; ++i)
                for (I& sum : sums[i]) sum = splat_of_blocks(weights.begin[first + i], 4);
            add_words<Codes>(run, count, b, first, s, sums);
            for (int i = 0; i < together; ++i) {
                if (!out[first + i]) continue;
                const F scale = as_float(splat_of_blocks(weights.scale[first + i], 4));
                alignas(64) float words[4][lanes];
                for (int j = 0; j < 4; ++j) store(words[j], mul(to_float(sums[i][j]), scale));
                float* to = out[first + i] + 32 * b;
                for (int lane = 0; lane < lanes; ++lane)
                    for (int j = 0; j < 4; ++j) *to++ = words[j][lane];
            }
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
