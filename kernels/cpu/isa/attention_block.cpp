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
// Which queries are together in a call and in a tile depends on how heads are cut over devices, so
// it changes no bit: blocks, and in them what is added up together, end at fixed positions,
// wherever the first query begins to see. What a query does not see changes none, either.
//
// In integers (attention_codes.h) q, k, v and weights are rounded to codes first; what a part of a
// key adds to a score is then the exact sum of products of codes, times the scales.
#include "kernels/cpu/isa/attention_cells.h"
#include "kernels/cpu/isa/attention_load.h"
#include "kernels/cpu/isa/attention_weights.h"
#include "kernels/cpu/isa/float_tile.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Queries [first, first + tile_queries), of which the last ones may not exist, with cells of a
// block of positions: whole key_columns, in which all is that they see.
struct Tile {
    int64_t first;
    Positions positions;
    Cells cells;
};

// What is read after a product with the rows of key_columns: those of `position` on, of which each
// of so many tiles asks for its share; also behind the end of a part, where mostly the next begins.
Meanwhile share_of_rows(const CacheHead& cache, int64_t position, int64_t number, int64_t tiles) {
    const int64_t bytes = key_columns * cache.stride / tiles;
    return {CacheRun(cache, position).row(0) + number * bytes, bytes};
}

// The tile's scores.
void multiply_keys(const Attention& a, const BlockOfCells& s, const Tile& tile) {
    const int64_t length = s.key_length(), tiles = (a.queries + tile_queries - 1) / tile_queries;
    const int64_t behind = tile.positions.begin + tile.positions.count;
    const float* q = s.q + tile.first * length;
    for (int64_t c = tile.cells.from; c < tile.cells.to; c += key_columns) {
        float* scores = s.weights + c;
        if (s.key_codes) {
            auto after = [&](const CacheHead& cache) {
                return share_of_rows(cache, behind + c, tile.first / tile_queries, tiles);
            };
            multiply_codes<tile_queries, false>(q, length, s.key(c, 0), s.first_length, scores,
                                                after(a.k));
            if (s.second_length > 0)
                multiply_codes<tile_queries, true>(q + s.first_length, length,
                                                   s.key(c, s.first_length), s.second_length,
                                                   scores, after(a.k2));
            continue;
        }
        F score[tile_queries][2];
        for (auto& of_query : score) of_query[0] = of_query[1] = zero();
        add_products([&](int i, int64_t e) { return q[i * length + e]; }, s.key(c, 0), key_columns,
                     length, score);
        for (int i = 0; i < tile_queries; ++i)
            for (int j = 0; j < 2; ++j)
                store(scores + i * attention_cells + j * lanes, score[i][j]);
    }
}

void cap_scores(const BlockOfCells& s, float cap, Cells cells) {
    for (int i = 0; i < tile_queries; ++i)
        for (float* score = s.weights + i * attention_cells + cells.from;
             score < s.weights + i * attention_cells + cells.to; score += lanes)
            store(score, capped(load_f32(score), cap));
}

// out = out * factor + weights v, over some cells.
void add_value_codes(const BlockOfCells& s, const float* factor, Cells cells, float* out) {
    for (int i = 0; i < tile_queries; ++i)
        for (float* e = out + i * s.value_length; e < out + (i + 1) * s.value_length; e += lanes)
            store(e, mul(load_f32(e), splat(factor[i])));
    alignas(64) float scales[lanes];
    store(scales, encode_weights<tile_queries>(s.weights, s.value_scales, cells));
    each_sum(cells, [&](Cells part) {
        int64_t e = 0;
        for (; e + 2 * lanes <= s.value_length; e += 2 * lanes)
            multiply_values<tile_queries, 2>(s.weights, s.values + e, scales, s.value_length, part,
                                             out + e);
        if (e < s.value_length)
            multiply_values<tile_queries, 1>(s.weights, s.values + e, scales, s.value_length, part,
                                             out + e);
    });
}

// The same of floats, from element e on.
template <int vectors>
inline void add_values(const BlockOfCells& s, int64_t e, const float* factor, Cells cells,
                       float* out) {
    const auto [from, to] = cells;
    const float* weights = s.weights + from;
    for (; e + vectors * lanes <= s.value_length; e += vectors * lanes) {
        F sum[tile_queries][vectors];
        for (int i = 0; i < tile_queries; ++i)
            for (int j = 0; j < vectors; ++j)
                sum[i][j] =
                    mul(load_f32(out + i * s.value_length + e + j * lanes), splat(factor[i]));
        add_products([&](int i, int64_t c) { return weights[i * attention_cells + c]; },
                     s.values + from * s.value_length + e, s.value_length, to - from, sum);
        for (int i = 0; i < tile_queries; ++i)
            for (int j = 0; j < vectors; ++j)
                store(out + i * s.value_length + e + j * lanes, sum[i][j]);
    }
    if constexpr (vectors > 1) add_values<vectors / 2>(s, e, factor, cells, out);
}

// The same where a value is not finite: even no weight would spoil what does not see it.
void add_seen_values(const Attention& a, const BlockOfCells& s, const Tile& tile,
                     const float* factor, float* out) {
    for (int64_t i = 0; i < tile_queries && tile.first + i < a.queries;
         ++i, out += s.value_length) {
        const Cells seen = seen_by(a, tile.first + i, tile.positions);
        const float* weights = s.weights + i * attention_cells;
        for (int64_t e = 0; e < s.value_length; e += lanes) {
            F sum = mul(load_f32(out + e), splat(factor[i]));
            for (int64_t c = seen.from; c < seen.to; ++c)
                sum = fma(splat(weights[c]), load_f32(s.values + c * s.value_length + e), sum);
            store(out + e, sum);
        }
    }
}

// What `join` makes of the lanes of each query's vector, in lanes of their order.
template <typename Join>
inline F join_queries(const F (&of_query)[tile_queries], Join join) {
    F rows[lanes];
    for (int i = 0; i < lanes; ++i) rows[i] = of_query[i % tile_queries];
    return join_rows(rows, join);
}

// The tile's scores become weights. What the queries have added up so far, with weights that count
// from the old maximum, is to be multiplied by `factor`.
void weigh(const Attention& a, const BlockOfCells& s, const Tile& tile, float (&factor)[lanes]) {
    const int64_t at = tile.first;
    const auto [from, to] = tile.cells;
    F largest[tile_queries], all[tile_queries];
    for (int i = 0; i < tile_queries; ++i) {
        float* scores = s.weights + i * attention_cells;
        const Cells seen = at + i < a.queries ? seen_by(a, at + i, tile.positions) : Cells{};
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
    for (int i = 0; i < tile_queries; ++i) {
        float* scores = s.weights + i * attention_cells;
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
    std::memcpy(s.most + at, mosts, tile_queries * sizeof(float));
    std::memcpy(s.total + at, totals, tile_queries * sizeof(float));
}

// The tile of queries from `first` on with a block of positions.
void attend_tile(const Attention& a, const BlockOfCells& s, int64_t first, Positions positions,
                 bool finite) {
    const int64_t exist = a.queries - first < tile_queries ? a.queries - first : tile_queries;
    const int64_t from = seen_by(a, first, positions).from / key_columns * key_columns;
    const int64_t end = seen_by(a, first + exist - 1, positions).to;
    if (end <= from) return;
    const int64_t to = (end + key_columns - 1) / key_columns * key_columns;
    const Tile tile{first, positions, {from, to}};
    multiply_keys(a, s, tile);
    if (a.soft_cap > 0) cap_scores(s, a.soft_cap, tile.cells);
    float factor[lanes];
    weigh(a, s, tile, factor);
    float* out = s.out + first * s.value_length;
    if (!finite)
        add_seen_values(a, s, tile, factor, out);
    else if (s.value_codes)
        add_value_codes(s, factor, tile.cells, out);
    else
        add_values<2>(s, 0, factor, {from, end}, out);
}

// A part of a query's elements, scaled, and zeros up to `padded`; a query that does not exist has
// zeros only.
void load_query(const BlockOfCells& s, const float* q, int64_t length, float scale, int64_t padded,
                float* to) {
    if (!q) length = 0;
    for (int64_t e = 0; e < length; ++e) to[e] = q[e] * scale;
    for (int64_t e = length; e < padded; ++e) to[e] = 0;
    if (s.key_codes) encode_query(padded, to);
}

}  // namespace

void attend_block(const Attention& a) {
    const BlockOfCells s(a);
    const int64_t padded = (a.queries + tile_queries - 1) / tile_queries * tile_queries,
                  length = s.key_length();
    for (int64_t i = 0; i < padded; ++i) {
        const bool exists = i < a.queries;
        float* q = s.q + i * length;
        load_query(s, exists ? a.q[i] : nullptr, a.k.length, a.scale, s.first_length, q);
        if (s.second_length > 0)
            load_query(s, exists ? a.q2[i] : nullptr, a.k2.length, a.scale, s.second_length,
                       q + s.first_length);
    }
    for (int64_t i = 0; i < attention_queries + lanes; ++i) s.most[i] = unseen, s.total[i] = 0;
    for (int64_t e = 0; e < padded * s.value_length; e += lanes) store(s.out + e, zero());
    for (int64_t position = a.begin / cells_of_sum * cells_of_sum; position < a.end;) {
        const int64_t end = (position / attention_cells + 1) * attention_cells;
        const Positions block{position, (a.end < end ? a.end : end) - position};
        position = end;
        const bool finite = load_block(a, s, block);
        for (int64_t first = 0; first < a.queries; first += tile_queries)
            attend_tile(a, s, first, block, finite);
    }
    std::memcpy(a.most, s.most, size_t(a.queries) * sizeof(float));
    std::memcpy(a.total, s.total, size_t(a.queries) * sizeof(float));
    for (int64_t i = 0; i < a.queries; ++i)
        std::memcpy(a.out[i], s.out + i * s.value_length, size_t(a.v.length) * sizeof(float));
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
