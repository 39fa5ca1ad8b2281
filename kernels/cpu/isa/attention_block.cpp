// Attention of many queries (flash attention, Dao et al. 2022): for each block of cells, keys are
// widened and transposed and values widened once for all queries, then tiles of queries multiply
// with them in registers: scores = q k^T, out += weights v. Both are one product, of rows whose
// elements are spread over a vector by vectors of columns, of floats or of integers.
//
//     for (query i) {                                   // q[e] *= scale, once; most = -infinity
//         for (block of cells) {
//             for (cell c) {
//                 float score = 0;
//                 for (element e) score = fma(q[i][e], k[c][e], score);   // both pairs in a row
//                 if (soft_cap > 0) score = soft_cap * tanh(score / soft_cap);
//                 scores[c] = sees(i, c) ? score : -infinity;
//             }
//             float larger = max(most[i], scores...), factor = exp(most[i] - larger);
//             for (cell c) weights[c] = exp(scores[c] - larger);
//             total[i] = fma(total[i], factor, sum of weights);
//             for (element e) {
//                 out[i][e] *= factor;
//                 for (cell c) out[i][e] = fma(weights[c], v[c][e], out[i][e]);
//             }
//             most[i] = larger;
//         }
//     }
//
// In integers (attention_codes.h) q, k, v and weights are rounded to codes first; a score is then
// the exact sum of products of codes, times the scales.
#include "kernels/cpu/isa/attention_codes.h"
#include "kernels/cpu/isa/cache_rows.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/soft_max.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

constexpr int cells = attention_cells;
constexpr int tile = lanes / 2;  // queries, by two vectors: half of all registers

constexpr int64_t whole_vectors(int64_t elements) { return (elements + lanes - 1) / lanes * lanes; }

// Memory of a call. Rows are filled up to whole vectors, with zeros.
struct Scratch {
    int64_t d, d2, dv;    // whole vectors
    bool key_codes;       // queries and keys become such (attention_codes.h)
    bool value_codes;     // weights and values do
    float* q;             // [queries][d + d2], scaled
    float* keys;          // [cells / key_columns][d + d2][key_columns]
    float* rows;          // [lanes][d or d2]: keys on their way
    float* values;        // [cells][dv]
    float* out;           // [queries][dv]
    float* weights;       // [tile][cells], first the scores
    float* value_scales;  // [cells], of codes
    float *most, *total;  // [queries], and a vector behind them

    explicit Scratch(const Attention& a)
        : d(whole_vectors(a.k.length)),
          d2(a.k2.rows ? whole_vectors(a.k2.length) : 0),
          dv(whole_vectors(a.v.length)),
          key_codes(in_codes(a.k) && (d2 == 0 || in_codes(a.k2))),
          value_codes(in_codes(a.v)),
          q(a.scratch),
          keys(q + attention_queries * (d + d2)),
          rows(keys + cells * (d + d2)),
          values(rows + lanes * (d + d2)),
          out(values + cells * dv),
          weights(out + attention_queries * dv),
          value_scales(weights + tile * cells),
          most(value_scales + cells),
          total(most + attention_queries + lanes) {}

    // Where an element of a cell's key stands.
    float* key(int64_t cell, int64_t e) const {
        return keys + cell / key_columns * key_columns * (d + d2) + e * key_columns +
               cell % key_columns;
    }
};

// The elements of a row as floats, zeros behind them.
template <typename Rows>
inline void widen(const uint8_t* row, int64_t length, float* to) {
    constexpr int vectors = Rows::unit;
    int64_t e = 0;
    for (F part[vectors]; e + vectors * lanes <= length; e += vectors * lanes) {
        Rows::load(row, e, part);
        for (int j = 0; j < vectors; ++j) store(to + e + j * lanes, part[j]);
    }
    if (e == length) return;
    // Types of blocks have whole vectors.
    uint8_t last[4 * lanes] = {};
    F part[1];
    std::memcpy(last, row + e * Rows::element_bytes, size_t((length - e) * Rows::element_bytes));
    Rows::load(last, 0, part);
    store(to + e, part[0]);
}

// `count` rows of successive positions, and zeros up to `padded` rows.
void widen_rows(const CacheHead& cache, int64_t position, int64_t count, int64_t padded, float* to,
                int64_t stride) {
    const CacheRun run(cache, position);
    with_rows(cache.type, [&](auto rows) {
        for (int64_t c = 0; c < count; ++c) {
            run.fetch_ahead(run.row(c));
            widen<decltype(rows)>(run.row(c), cache.length, to + c * stride);
        }
    });
    for (int64_t c = count < 0 ? 0 : count; c < padded; ++c)
        for (int64_t e = 0; e < stride; e += lanes) store(to + c * stride + e, zero());
}

// [lanes][elements] -> [elements][key_columns]
void transpose_rows(const float* rows, int64_t elements, float* keys) {
    for (int64_t e = 0; e < elements; e += lanes) {
        F square[lanes];
        for (int i = 0; i < lanes; ++i) square[i] = load_f32(rows + i * elements + e);
        transpose(square);
        for (int i = 0; i < lanes; ++i) store(keys + (e + i) * key_columns, square[i]);
    }
}

// Rows of a part of keys, which begins with element e, to the columns of their cells, from c on.
void turn_keys(const Scratch& s, const float* rows, int64_t c, int64_t e, int64_t elements) {
    transpose_rows(rows, elements, s.key(c, e));
    if (s.key_codes) encode_keys(elements, s.key(c, e));
}

// A block of `count` positions. False if a value is not finite: all of them are floats then.
bool load_block(const Attention& a, const Scratch& s, int64_t position, int64_t count) {
    const int64_t padded = (count + key_columns - 1) / key_columns * key_columns;
    widen_rows(a.v, position, count, padded, s.values, s.dv);
    const bool same = a.k.rows == a.v.rows && a.k.length == a.v.length;
    for (int64_t c = 0; c < padded; c += lanes) {
        const int64_t exist = count - c < lanes ? count - c : lanes;
        if (!same) widen_rows(a.k, position + c, exist, lanes, s.rows, s.d);
        turn_keys(s, same ? s.values + c * s.dv : s.rows, c, 0, s.d);
        if (s.d2 == 0) continue;
        widen_rows(a.k2, position + c, exist, lanes, s.rows, s.d2);
        turn_keys(s, s.rows, c, s.d, s.d2);
    }
    if (!s.value_codes) return is_finite(largest_magnitude(s.values, padded * s.dv));
    encode_values(padded, s.dv, s.values, s.value_scales);
    if (is_finite(largest_magnitude(s.value_scales, padded))) return true;
    widen_rows(a.v, position, count, padded, s.values, s.dv);
    return false;
}

// sum += a [tile][inner] b [inner][Vectors * lanes]
template <int Vectors>
inline void add_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                         int64_t inner, F (&sum)[tile][Vectors]) {
    for (int64_t e = 0; e < inner; ++e) {
        F column[Vectors];
        for (int j = 0; j < Vectors; ++j) column[j] = load_f32(b + e * b_stride + j * lanes);
        for (int i = 0; i < tile; ++i) {
            F x = splat(a[i * a_stride + e]);
            for (int j = 0; j < Vectors; ++j) sum[i][j] = fma(x, column[j], sum[i][j]);
        }
    }
}

// Scores of cells [from, to), multiples of key_columns.
void multiply_keys(const Scratch& s, const float* q, int64_t from, int64_t to) {
    const int64_t inner = s.d + s.d2;
    for (int64_t c = from; c < to; c += key_columns) {
        float* scores = s.weights + c;
        if (s.key_codes) {
            multiply_codes<tile, false>(q, inner, s.key(c, 0), s.d, scores);
            if (s.d2 > 0) multiply_codes<tile, true>(q + s.d, inner, s.key(c, s.d), s.d2, scores);
            continue;
        }
        F score[tile][2];
        for (auto& of_query : score) of_query[0] = of_query[1] = zero();
        add_products(q, inner, s.key(c, 0), key_columns, inner, score);
        for (int i = 0; i < tile; ++i)
            for (int j = 0; j < 2; ++j) store(scores + i * cells + j * lanes, score[i][j]);
    }
}

void cap_scores(const Scratch& s, float cap, int64_t from, int64_t to) {
    for (int i = 0; i < tile; ++i)
        for (float* score = s.weights + i * cells + from; score < s.weights + i * cells + to;
             score += lanes)
            store(score, capped(load_f32(score), cap));
}

// out = out * factor + weights v, over cells [from, to).
void add_value_codes(const Scratch& s, const float* factor, int64_t from, int64_t to, float* out) {
    for (int i = 0; i < tile; ++i)
        for (float* e = out + i * s.dv; e < out + (i + 1) * s.dv; e += lanes)
            store(e, mul(load_f32(e), splat(factor[i])));
    alignas(64) float scales[lanes];
    store(scales, encode_weights<tile>(s.weights, s.value_scales, from, to));
    each_sum(from, to, [&](int64_t first, int64_t last) {
        int64_t e = 0;
        for (; e + 2 * lanes <= s.dv; e += 2 * lanes)
            multiply_values<tile, 2>(s.weights, s.values + e, scales, s.dv, first, last, out + e);
        if (e < s.dv)
            multiply_values<tile, 1>(s.weights, s.values + e, scales, s.dv, first, last, out + e);
    });
}

// The same of floats.
template <int Vectors>
inline void add_values(const Scratch& s, int64_t e, const float* factor, int64_t from, int64_t to,
                       float* out) {
    for (; e + Vectors * lanes <= s.dv; e += Vectors * lanes) {
        F sum[tile][Vectors];
        for (int i = 0; i < tile; ++i)
            for (int j = 0; j < Vectors; ++j)
                sum[i][j] = mul(load_f32(out + i * s.dv + e + j * lanes), splat(factor[i]));
        add_products(s.weights + from, cells, s.values + from * s.dv + e, s.dv, to - from, sum);
        for (int i = 0; i < tile; ++i)
            for (int j = 0; j < Vectors; ++j) store(out + i * s.dv + e + j * lanes, sum[i][j]);
    }
    if constexpr (Vectors > 1) add_values<Vectors / 2>(s, e, factor, from, to, out);
}

// The same where a value is not finite: even no weight would spoil what does not see it.
void add_seen_values(const Attention& a, const Scratch& s, int64_t at, int64_t position,
                     int64_t count, const float* factor, float* out) {
    for (int64_t i = 0; i < tile && at + i < a.queries; ++i, out += s.dv) {
        const Seen seen = seen_by(a, at + i, position, count);
        const float* weights = s.weights + i * cells;
        for (int64_t e = 0; e < s.dv; e += lanes) {
            F sum = mul(load_f32(out + e), splat(factor[i]));
            for (int64_t c = seen.from; c < seen.to; ++c)
                sum = fma(splat(weights[c]), load_f32(s.values + c * s.dv + e), sum);
            store(out + e, sum);
        }
    }
}

// What `join` makes of the lanes of each query's vector, in lanes of their order.
template <typename Join>
inline F join_queries(const F (&of_query)[tile], Join join) {
    F rows[lanes];
    for (int i = 0; i < lanes; ++i) rows[i] = of_query[i % tile];
    return join_rows(rows, join);
}

// Scores of cells [from, to) of the queries become weights. `factor` is what they counted so far,
// from the old maximum, is to be multiplied with.
void weigh(const Attention& a, const Scratch& s, int64_t at, int64_t position, int64_t count,
           int64_t from, int64_t to, float (&factor)[lanes]) {
    F largest[tile], all[tile];
    for (int i = 0; i < tile; ++i) {
        float* scores = s.weights + i * cells;
        const Seen seen = at + i < a.queries ? seen_by(a, at + i, position, count) : Seen{};
        for (int64_t c = from; c < seen.from; ++c) scores[c] = unseen;
        for (int64_t c = seen.to; c < to; ++c) scores[c] = unseen;
        largest[i] = splat(unseen);
        for (int64_t c = from; c < to; c += lanes)
            largest[i] = max(largest[i], load_f32(scores + c));
    }
    const F old = load_f32(s.most + at);
    const F most = max(old, join_queries(largest, [](F x, F y) { return max(x, y); }));
    const F change = weight_of(base_of(old), base_of(most));
    float base[lanes];
    store(base, base_of(most));
    for (int i = 0; i < tile; ++i) {
        float* scores = s.weights + i * cells;
        all[i] = zero();
        for (int64_t c = from; c < to; c += lanes) {
            F weight = weight_of(load_f32(scores + c), splat(base[i]));
            store(scores + c, weight);
            all[i] = add(all[i], weight);
        }
    }
    const F sums = join_queries(all, [](F x, F y) { return add(x, y); });
    float mosts[lanes], totals[lanes];
    store(factor, change);
    store(mosts, most);
    store(totals, fma(load_f32(s.total + at), change, sums));
    std::memcpy(s.most + at, mosts, tile * sizeof(float));
    std::memcpy(s.total + at, totals, tile * sizeof(float));
}

// Queries [at, at + tile) with the block of `count` positions; the last ones may not exist.
void attend_tile(const Attention& a, const Scratch& s, int64_t at, int64_t position, int64_t count,
                 bool finite) {
    const int64_t exist = a.queries - at < tile ? a.queries - at : tile;
    const int64_t from = seen_by(a, at, position, count).from / key_columns * key_columns;
    const int64_t end = seen_by(a, at + exist - 1, position, count).to;
    if (end <= from) return;
    const int64_t to = (end + key_columns - 1) / key_columns * key_columns;
    multiply_keys(s, s.q + at * (s.d + s.d2), from, to);
    if (a.soft_cap > 0) cap_scores(s, a.soft_cap, from, to);
    float factor[lanes];
    weigh(a, s, at, position, count, from, to, factor);
    float* out = s.out + at * s.dv;
    if (!finite)
        add_seen_values(a, s, at, position, count, factor, out);
    else if (s.value_codes)
        add_value_codes(s, factor, from, to, out);
    else
        add_values<2>(s, 0, factor, from, end, out);
}

// A part of a query's elements, scaled, and zeros up to `padded`; a query that does not exist has
// zeros only.
void load_query(const Scratch& s, const float* q, int64_t length, float scale, int64_t padded,
                float* to) {
    if (!q) length = 0;
    for (int64_t e = 0; e < length; ++e) to[e] = q[e] * scale;
    for (int64_t e = length; e < padded; ++e) to[e] = 0;
    if (s.key_codes) encode_query(padded, to);
}

}  // namespace

void attend_block(const Attention& a) {
    const Scratch s(a);
    const int64_t padded = (a.queries + tile - 1) / tile * tile, inner = s.d + s.d2;
    for (int64_t i = 0; i < padded; ++i) {
        const bool exists = i < a.queries;
        float* q = s.q + i * inner;
        load_query(s, exists ? a.q[i] : nullptr, a.k.length, a.scale, s.d, q);
        if (s.d2 > 0)
            load_query(s, exists ? a.q2[i] : nullptr, a.k2.length, a.scale, s.d2, q + s.d);
    }
    for (int64_t i = 0; i < attention_queries + lanes; ++i) s.most[i] = unseen, s.total[i] = 0;
    for (int64_t e = 0; e < padded * s.dv; e += lanes) store(s.out + e, zero());
    for (int64_t position = a.begin; position < a.end; position += cells) {
        const int64_t count = a.end - position < cells ? a.end - position : cells;
        const bool finite = load_block(a, s, position, count);
        for (int64_t at = 0; at < a.queries; at += tile)
            attend_tile(a, s, at, position, count, finite);
    }
    std::memcpy(a.most, s.most, size_t(a.queries) * sizeof(float));
    std::memcpy(a.total, s.total, size_t(a.queries) * sizeof(float));
    for (int64_t i = 0; i < a.queries; ++i)
        std::memcpy(a.out[i], s.out + i * s.dv, size_t(a.v.length) * sizeof(float));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
