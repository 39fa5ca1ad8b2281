// Attention of few queries: rows of the cache go from memory to registers and are used for up to
// eight queries there; nothing of them is stored. attention_block.cpp has the scalar version, of
// which this does all cells as one block; lanes of a vector add up every so many elements of a
// score, and then each other.
//
// A tile is `queries` queries by lanes / queries cells, one accumulator for each pair. Its scores
// are a vector [queries][cells of a tile], so that softmax and weights need no transposition.
// Many rows of codes go other ways (attention_few_codes.h).
#include "kernels/cpu/isa/attention_cells.h"
#include "kernels/cpu/isa/attention_few_codes.h"
#include "kernels/cpu/isa/attention_weights.h"
#include "kernels/cpu/isa/cache_rows.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Where the score of a query with cell c stands.
template <int queries>
inline int64_t place(int64_t query, int64_t c) {
    constexpr int width = lanes / queries;
    return c / width * lanes + query * width + c % width;
}

// Scores of whole tiles from rows of each query's cells, and the other way.
template <int queries>
void tiles_of_rows(const CodesScratch& s, int64_t cells, float* scores) {
    constexpr int width = lanes / queries;
    for (int64_t c = 0; c < cells; c += width)
        for (int i = 0; i < queries; ++i, scores += width)
            std::memcpy(scores, s.rows[i] + c, width * sizeof(float));
}
template <int queries>
void rows_of_tiles(const float* scores, int64_t cells, CodesScratch& s) {
    constexpr int width = lanes / queries;
    for (int64_t c = 0; c < cells; c += width)
        for (int i = 0; i < queries; ++i, scores += width)
            std::memcpy(s.rows[i] + c, scores, width * sizeof(float));
}

// The rows of a tile's cells, from cell c on. That of the last cell stands for those behind it.
template <int width>
inline void find_rows(const CacheRun& run, int64_t c, int64_t count,
                      const uint8_t* (&rows)[width]) {
    if (c + width <= count && run.lie_together(c, c + width)) {
        rows[0] = run.row(c);
        for (int i = 1; i < width; ++i) rows[i] = rows[i - 1] + run.stride;
    } else {
        for (int i = 0; i < width; ++i) rows[i] = run.row(c + i < count ? c + i : count - 1);
    }
}

// Calls visit(from, to) for cells whose rows lie together: those up to the end of the ring, and
// those that go on at its begin.
template <typename Visit>
inline void each_run_of_rows(const CacheRun& run, int64_t count, Visit visit) {
    const int64_t middle = run.until_end < count ? run.until_end : count;
    for (int64_t from = 0, to = middle; from < count; from = to, to = count) visit(from, to);
}

// q [queries][length] k^T of `count` cells. Meanwhile their values come from memory.
template <int queries, typename Rows>
inline void multiply_keys(const CacheHead& keys, const CacheRun& run, const CacheRun& values,
                          int64_t count, const float* q, float* scores) {
    constexpr int width = lanes / queries;
    for (int64_t c = 0; c < count; c += width) {
        const uint8_t* rows[width];
        find_rows(run, c, count, rows);
        run.fetch_ahead(rows[0], width);
        const uint8_t* value = values.row(c);
        for (int64_t at = 0; at < width * values.stride; at += 64) prefetch_far(value + at);
        F tile[lanes];
        for (F& sum : tile) sum = zero();
        constexpr int vectors = Rows::unit;
        for (int64_t e = 0; e < keys.length; e += vectors * lanes) {
            F query[queries][vectors];
            for (int i = 0; i < queries; ++i)
                for (int p = 0; p < vectors; ++p) {
                    query[i][p] = load_f32(q + i * keys.length + e + p * lanes);
                    // Where there is room, they are not loaded anew for each cell.
                    if constexpr (width > 1 && queries * vectors <= 4)
                        query[i][p] = as_float(in_register(as_int(query[i][p])));
                }
            for (int j = 0; j < width; ++j) {
                F key[vectors];
                Rows::load(rows[j], e, key);
                for (int p = 0; p < vectors; ++p)
                    for (int i = 0; i < queries; ++i)
                        tile[i * width + j] = fma(key[p], query[i][p], tile[i * width + j]);
            }
        }
        store(scores + c * queries, sums(tile));
    }
}

// Rows that are read next, of which memory is asked for some bytes at a time.
struct Ahead {
    const uint8_t *line = nullptr, *end = nullptr;

    template <int bytes>
    void ask() {
        if (line >= end) return;
        for (int at = 0; at < bytes; at += 64) prefetch_far(line + at);
        line += (bytes + 63) / 64 * 64;
    }
};
// The keys of the part behind this one, as far as queries see them: while values are multiplied,
// which came beside keys, memory would rest.
inline Ahead keys_behind(const Attention& a, const CacheRun& keys, int64_t at) {
    const int64_t count = a.end - a.begin, left = a.last[at] - a.end;
    const int64_t cells = left < attention_part ? left : attention_part;
    if (cells <= 0 || !keys.lie_together(count, count + cells)) return {};
    return {keys.row(count), keys.row(count) + cells * keys.stride};
}

// out = weights v from element e on, `vectors` vectors of elements at once, then fewer.
template <int queries, typename Rows, int vectors>
inline void add_values(const CacheHead& values, const CacheRun& run, int64_t count,
                       const float* weights, int64_t e, Ahead ahead, float* const* out) {
    for (; e + vectors * lanes <= values.length; e += vectors * lanes) {
        F sum[queries][vectors];
        for (auto& of_query : sum)
            for (F& part : of_query) part = zero();
        // Cells between two branches: whole tiles.
        constexpr int width = lanes / queries, together = width < 4 ? 4 : width;
        const int64_t chunk = values.stride * e / values.length;
        auto add_cell = [&](const uint8_t* row, const float* of_cell) [[gnu::always_inline]] {
            for (int at = 0; at < Rows::bytes_of(vectors * lanes); at += 64)
                prefetch_near(row + chunk + near_ahead + at);
            F value[vectors];
            Rows::load(row, e, value);
            for (int i = 0; i < queries; ++i) {
                const F weight = splat(of_cell[i * width]);
                for (int j = 0; j < vectors; ++j) sum[i][j] = fma(weight, value[j], sum[i][j]);
            }
        };
        each_run_of_rows(run, count, [&](int64_t from, int64_t to) [[gnu::always_inline]] {
            const uint8_t* row = run.row(from);
            for (int64_t c = from; c < to;) {
                const float* of_cell = weights + place<queries>(0, c);
                if (c % together || to - c < together) {
                    add_cell(row, of_cell);
                    row += run.stride, ++c;
                    continue;
                }
                ahead.ask<together * Rows::bytes_of(vectors * lanes)>();
#pragma GCC unroll 16
                for (int k = 0; k < together; ++k, ++c, row += run.stride)
                    add_cell(row, of_cell + k / width * lanes + k % width);
            }
        });
        for (int i = 0; i < queries; ++i)
            for (int j = 0; j < vectors; ++j)
                if (out[i]) store(out[i] + e + j * lanes, sum[i][j]);
    }
    if constexpr (vectors > 1)
        add_values<queries, Rows, vectors / 2>(values, run, count, weights, e, ahead, out);
}

// The same of the cells that query i of a tile sees, where a value is not finite: even no weight
// would spoil what does not see it.
template <int queries, typename Rows>
void add_seen_values(const CacheHead& values, const CacheRun& run, Cells seen, const float* weights,
                     int i, float* out) {
    for (int64_t e = 0; e < values.length; e += lanes) {
        F sum = zero(), value[1];
        for (int64_t c = seen.from; c < seen.to; ++c) {
            Rows::load(run.row(c), e, value);
            sum = fma(splat(weights[place<queries>(i, c)]), value[0], sum);
        }
        store(out + e, sum);
    }
}

// out = weights v of all queries.
template <int queries>
void add_all_values(const Attention& a, const CacheRun& run, int64_t count, int64_t padded,
                    CodesScratch& scratch, const float* weights, Ahead ahead, float* const* out) {
    if constexpr (by_codes<queries>)
        if (has_enough_codes(a.v, count)) {
            rows_of_tiles<queries>(weights, padded, scratch);
            for (int i = 0; i < queries; ++i) store(scratch.rows[i] + padded, zero());
            with_codes(a.v.type, [&](auto codes) {
                add_value_codes<queries, decltype(codes)>(a.v, run, count, scratch, out);
            });
            return;
        }
    constexpr int width = lanes / queries, vectors = width < 8 ? width : 8;
    with_rows(a.v.type, [&](auto rows) {
        add_values<queries, decltype(rows), vectors>(a.v, run, count, weights, 0, ahead, out);
    });
}

// Scores of all queries of a tile, tiles up to `padded` cells.
template <int queries>
void score_cells(const Attention& a, const CacheRun& keys, const CacheRun& values, int64_t count,
                 int64_t padded, const float* q, CodesScratch& scratch, float* scores) {
    if constexpr (by_codes<queries>)
        if (has_enough_codes(a.k, count)) {
            with_codes(a.k.type, [&](auto codes) {
                multiply_key_codes<queries, decltype(codes)>(a.k, keys, values, count, q, scratch);
            });
            return tiles_of_rows<queries>(scratch, padded, scores);
        }
    with_rows(a.k.type, [&](auto rows) {
        multiply_keys<queries, decltype(rows)>(a.k, keys, values, count, q, scores);
    });
}

// The scores become weights, 0 for what a query does not see; the largest score and the sum of
// weights of each query that exists go to `a`.
template <int queries>
void weigh(const Attention& a, int64_t at, int64_t count, int64_t padded, float* scores) {
    constexpr int width = lanes / queries;
    if (a.soft_cap > 0)
        for (int64_t c = 0; c < padded; c += width)
            store(scores + c * queries, capped(load_f32(scores + c * queries), a.soft_cap));
    for (int i = 0; i < queries; ++i) {
        const Cells seen = at + i < a.queries ? seen_by(a, at + i, {a.begin, count}) : Cells{};
        for (int64_t c = 0; c < seen.from; ++c) scores[place<queries>(i, c)] = unseen;
        for (int64_t c = seen.to; c < padded; ++c) scores[place<queries>(i, c)] = unseen;
    }
    F best = splat(unseen), sum = zero();
    for (int64_t c = 0; c < padded; c += width) best = max(best, load_f32(scores + c * queries));
    best = spread<width>(best, [](F a, F b) { return max(a, b); });
    const F base = base_of(best);
    for (int64_t c = 0; c < padded; c += width) {
        F weight = weight_of(load_f32(scores + c * queries), base);
        store(scores + c * queries, weight);
        sum = add(sum, weight);
    }
    float most[lanes], total[lanes];
    store(most, best);
    store(total, spread<width>(sum, [](F a, F b) { return add(a, b); }));
    for (int i = 0; i < queries && at + i < a.queries; ++i) {
        a.most[at + i] = most[i * width];
        a.total[at + i] = total[i * width];
    }
}

// Queries [at, at + queries) of those asked for, of which the last ones may not exist.
template <int queries>
void attend_tile(const Attention& a, int64_t at) {
    const int64_t count = a.end - a.begin, key_length = a.k.length;
    const int64_t padded = (count + lanes - 1) / lanes * lanes;
    float* scores = a.scratch;                               // tiles of [queries][lanes / queries]
    float* q = scores + queries * (attention_part + lanes);  // [queries][key_length]
    CodesScratch& scratch = codes_scratch(q + queries * key_length);
    float* out[queries];
    for (int i = 0; i < queries; ++i) {
        const bool exists = at + i < a.queries;
        out[i] = exists ? a.out[at + i] : nullptr;
        for (int64_t e = 0; e < key_length; e += lanes)
            store(q + i * key_length + e,
                  exists ? mul(load_f32(a.q[at + i] + e), splat(a.scale)) : zero());
    }
    const CacheRun keys(a.k, a.begin), values(a.v, a.begin);
    score_cells<queries>(a, keys, values, count, padded, q, scratch, scores);
    weigh<queries>(a, at, count, padded, scores);
    add_all_values<queries>(a, values, count, padded, scratch, scores, keys_behind(a, keys, at),
                            out);
    for (int i = 0; i < queries; ++i)
        if (out[i] && !is_finite(largest_magnitude(out[i], a.v.length)))
            with_rows(a.v.type, [&](auto rows) {
                add_seen_values<queries, decltype(rows)>(
                    a.v, values, seen_by(a, at + i, {a.begin, count}), scores, i, out[i]);
            });
}

}  // namespace

// Where some queries are multiplied in codes, all are: the last ones, too.
void attend_few(const Attention& a) {
    const int64_t all = a.all_queries > 0 ? a.all_queries : a.queries, cells = a.end - a.begin;
    const bool all_by_codes = fast_pairs && all >= enough_queries &&
                              (has_enough_codes(a.k, cells) || has_enough_codes(a.v, cells));
    for (int64_t at = 0, left; (left = a.queries - at) > 0;) {
        if (left >= 7)
            attend_tile<8>(a, at), at += 8;
        else if (left >= enough_queries || all_by_codes)
            attend_tile<4>(a, at), at += 4;
        else if (left == 2)
            attend_tile<2>(a, at), at += 2;
        else
            attend_tile<1>(a, at), at += 1;
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
