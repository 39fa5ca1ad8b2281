// How keys and values of a block of cells come to attention_block.cpp: widened, transposed and,
// where products are of integers, rounded (attention_codes.h), once for all queries.
#pragma once

#include "kernels/cpu/isa/attention_cells.h"
#include "kernels/cpu/isa/attention_codes.h"
#include "kernels/cpu/isa/cache_rows.h"
#include "kernels/cpu/isa/float_tile.h"
#include "kernels/cpu/isa/lanes.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The queries of a tile.
inline constexpr int tile_queries = tile_rows;

constexpr int64_t whole_vectors(int64_t elements) { return (elements + lanes - 1) / lanes * lanes; }

// The block at work, and the rest of a call's memory. Rows are filled up to whole vectors, with
// zeros.
struct BlockOfCells {
    // In whole vectors: of both parts of a key, of which the second may have none, and of a value.
    int64_t first_length, second_length, value_length;
    bool same_rows;       // are keys and values
    bool key_codes;       // queries and keys become such (attention_codes.h)
    bool value_codes;     // weights and values do
    bool codes_of_rows;   // keys do before they are transposed: better if rows are long
    float* q;             // [queries][key_length], scaled
    float* keys;          // [cells / key_columns][key_length][key_columns]
    float* rows;          // [lanes][length of a part]: keys on their way
    float* values;        // [cells][value_length]
    float* out;           // [queries][value_length]
    float* weights;       // [tile_queries][cells], first the scores
    float* value_scales;  // [cells], of codes
    float *most, *total;  // [queries], and a vector behind them

    explicit BlockOfCells(const Attention& a)
        : first_length(whole_vectors(a.k.length)),
          second_length(a.k2.rows ? whole_vectors(a.k2.length) : 0),
          value_length(whole_vectors(a.v.length)),
          same_rows(a.k.rows == a.v.rows && a.k.length == a.v.length),
          key_codes(in_codes(a.k) && (second_length == 0 || in_codes(a.k2))),
          value_codes(in_codes(a.v)),
          codes_of_rows(key_codes && second_length > 0),
          q(a.scratch),
          keys(q + attention_queries * key_length()),
          rows(keys + attention_cells * key_length()),
          values(rows + lanes * key_length()),
          out(values + attention_cells * value_length),
          weights(out + attention_queries * value_length),
          value_scales(weights + tile_queries * attention_cells),
          most(value_scales + attention_cells),
          total(most + attention_queries + lanes) {}

    int64_t key_length() const { return first_length + second_length; }
    // Where an element of a cell's key stands.
    float* key(int64_t cell, int64_t e) const {
        return keys + cell / key_columns * key_columns * key_length() + e * key_columns +
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

// The rows of cells that are read, the first cell being that of `position`, and zeros before them
// and up to `padded` rows.
inline void widen_rows(const CacheHead& cache, int64_t position, Cells read, int64_t padded,
                       float* to, int64_t stride) {
    const CacheRun run(cache, position + read.from);
    with_rows(cache.type, [&](auto rows) {
        for (int64_t c = read.from; c < read.to; ++c) {
            const uint8_t* row = run.row(c - read.from);
            run.fetch_ahead(row);
            widen<decltype(rows)>(row, cache.length, to + c * stride);
        }
    });
    auto clear = [&](int64_t from, int64_t end) {
        for (int64_t c = from; c < end; ++c)
            for (int64_t e = 0; e < stride; e += lanes) store(to + c * stride + e, zero());
    };
    clear(0, read.from);
    clear(read.to, padded);
}

// The first `count` elements of rows [lanes][elements], and some more that fill up a vector, to
// columns [count][key_columns].
inline void transpose_rows(const float* rows, int64_t elements, int64_t count, float* keys) {
    for (int64_t e = 0; e < count; e += lanes)
        transpose_square(rows + e, elements, keys + e * key_columns, key_columns);
}

inline void transpose_keys(const BlockOfCells& s, const float* rows, int64_t elements,
                           float* keys) {
    transpose_rows(rows, elements, elements, keys);
    if (s.key_codes) encode_keys(elements, keys);
}

// A part of keys, elements from e on, of a vector of cells, from c on, the first being that of
// `position`.
inline void load_keys(const CacheHead& cache, const BlockOfCells& s, int64_t position, Cells read,
                      int64_t c, int64_t e, int64_t elements) {
    float* keys = s.key(c, e);
    widen_rows(cache, position, read, lanes, s.rows, elements);
    if (!s.codes_of_rows) return transpose_keys(s, s.rows, elements, keys);
    if (e == 0 && s.same_rows)
        encode_rows<true>(elements, s.rows, s.value_scales + c, s.values + c / 2 * elements);
    else
        encode_rows<false>(elements, s.rows, nullptr, nullptr);
    transpose_rows(s.rows, elements, elements / 2 + 1, keys);
}

// Of so many cells from a vector's first on, those in it.
inline int64_t of_vector(int64_t cells) { return cells < 0 ? 0 : cells < lanes ? cells : lanes; }

// A block of positions, of which those before the part are not read. False if a value is not
// finite: all of them are floats then.
inline bool load_block(const Attention& a, const BlockOfCells& s, Positions positions) {
    const auto [begin, count] = positions;
    const Cells read{begin < a.begin ? a.begin - begin : 0, count};
    const int64_t padded = (count + key_columns - 1) / key_columns * key_columns;
    const bool values_come_with_keys = s.same_rows && s.codes_of_rows;
    if (!values_come_with_keys) widen_rows(a.v, begin, read, padded, s.values, s.value_length);
    for (int64_t c = 0; c < padded; c += lanes) {
        const Cells some{of_vector(read.from - c), of_vector(read.to - c)};
        if (s.same_rows && !s.codes_of_rows)
            transpose_keys(s, s.values + c * s.value_length, s.first_length, s.key(c, 0));
        else
            load_keys(a.k, s, begin + c, some, c, 0, s.first_length);
        if (s.second_length > 0)
            load_keys(a.k2, s, begin + c, some, c, s.first_length, s.second_length);
    }
    if (!s.value_codes) return is_finite(largest_magnitude(s.values, padded * s.value_length));
    if (!values_come_with_keys) encode_values(padded, s.value_length, s.values, s.value_scales);
    if (is_finite(largest_magnitude(s.value_scales, padded))) return true;
    widen_rows(a.v, begin, read, padded, s.values, s.value_length);
    return false;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
