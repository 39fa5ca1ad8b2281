// The gated delta rule on rows of a head's state, a chunk of tokens at once.
//
// With the decays up to token i added up to c_i, the corrections follow from the state before the
// chunk and from each other (Yang et al. 2024, the forward substitution of their chunked form):
//
//     delta_i = beta_i (v_i - S (e^c_i k_i) - sum over j < i of <k_i, k_j>_ij delta_j)
//     out_i   =         S (e^c_i q_i) + sum over j <= i of <q_i, k_j>_ij delta_j
//     S      <- S e^c_last + sum over j of delta_j (e^(c_last - c_j) k_j)^T
//
// where <a, b>_ij weighs every channel by e^(c_i - c_j). Exponents are differences, never above 0.
// A decay below -104, whose power is 0 already, counts as that much: larger ones would take the
// last bits of the sums behind them.
//
// Products go in tiles (float_tile.h), by two vectors of columns.
#include "kernels/cpu/isa/arrays.h"
#include "kernels/cpu/isa/float_tile.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

constexpr int64_t whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

constexpr int both_tokens = 2 * delta_tokens;  // a key and a query of each

// The scratch memory of a chunk, with room for delta_tokens. What lies behind its tokens is 0, or
// never looked at.
struct Room {
    int64_t columns;                   // of the state, in whole lines
    int64_t stride;                    // rows of it, likewise
    float* both;                       // [columns][2 tokens]: keys, then queries
    float* outer;                      // [tokens][columns]: keys with the decay to the chunk's end
    float* among;                      // [tokens][tokens]: <k_i, k_j>_ij for j < i
    float* read;                       // [tokens][tokens]: <q_i, k_j>_ij for j <= i
    float* sums;                       // [tokens][columns], or [tokens]: decays added up
    float* since;                      // [tokens]: e^c
    float* all;                        // [columns]: the decay of the whole chunk
    float *values, *deltas, *results;  // [tokens][stride]
    float* few;                        // [lanes][columns or 2 tokens]: rows to be transposed

    explicit Room(const DeltaChunk& c)
        : columns(whole_lines(c.length)), stride(whole_lines(c.rows)) {
        constexpr int tokens = delta_tokens;
        float* p = c.scratch + (-reinterpret_cast<intptr_t>(c.scratch) / 4 & 15);
        auto take = [&](int64_t count) {
            float* at = p;
            p += count;
            return at;
        };
        both = take(columns * both_tokens), outer = take(tokens * columns);
        among = take(tokens * tokens), read = take(tokens * tokens);
        sums = take(tokens * columns), since = take(tokens), all = take(columns);
        values = take(tokens * stride), deltas = take(tokens * stride);
        results = take(tokens * stride);
        few = take(16 * (columns > both_tokens ? columns : both_tokens));
    }
};

// y = x e^(a - b), without b x e^a; zeros behind it.
void fade_row(const float* x, const float* a, const float* b, float* y, int64_t count,
              int64_t whole) {
    each(
        count,
        [&](int64_t i) {
            F power = b ? sub(load_f32(a + i), load_f32(b + i)) : load_f32(a + i);
            store(y + i, mul(load_f32(x + i), exp(power)));
        },
        [&](int64_t i) { y[i] = x[i] * __builtin_expf(a[i] - (b ? b[i] : 0)); });
    for (int64_t i = count; i < whole; ++i) y[i] = 0;
}

void scale_row(const float* x, float factor, float* y, int64_t count, int64_t whole) {
    each(
        count, [&](int64_t i) { store(y + i, mul(load_f32(x + i), splat(factor))); },
        [&](int64_t i) { y[i] = x[i] * factor; });
    for (int64_t i = count; i < whole; ++i) y[i] = 0;
}

// A logarithm that is added up: e to the least is 0, as to anything below.
inline float added(float decay) {
    constexpr float least = -104;
    return decay < least ? least : decay;
}

// One decay per token: keys and queries are placed as they are, products with them weighed later.
void add_up_decays(const DeltaChunk& c, const Room& room) {
    float sum = 0;
    for (int64_t t = 0; t < c.tokens; ++t) room.sums[t] = sum += added(*c.decay[t]);
    for (int64_t t = c.tokens; t < delta_tokens; ++t) room.sums[t] = sum;
    for (int64_t t = 0; t < delta_tokens; t += lanes)
        store(room.since + t, exp(load_f32(room.sums + t)));
    for (int64_t i = 0; i < room.columns; ++i) room.all[i] = room.since[c.tokens - 1];
    for (int64_t t = 0; t < c.tokens; ++t)
        scale_row(c.k[t], __builtin_expf(sum - room.sums[t]), room.outer + t * room.columns,
                  c.length, room.columns);
}

// One per channel.
void add_up_channels(const DeltaChunk& c, const Room& room) {
    const float* last = room.sums + (c.tokens - 1) * room.columns;
    for (int64_t t = 0; t < c.tokens; ++t)
        for (int64_t i = 0; i < c.length; ++i) {
            float before = t > 0 ? room.sums[(t - 1) * room.columns + i] : 0;
            room.sums[t * room.columns + i] = before + added(c.decay[t][i]);
        }
    for (int64_t t = 0; t < delta_tokens; ++t) room.since[t] = 1;
    for (int64_t i = 0; i < room.columns; ++i) room.all[i] = 1;
    fade_row(room.all, last, nullptr, room.all, c.length, room.columns);
    for (int64_t t = 0; t < c.tokens; ++t)
        fade_row(c.k[t], last, room.sums + t * room.columns, room.outer + t * room.columns,
                 c.length, room.columns);
}

// both[i][column + t] = rows[t][i], decayed where decays are per channel.
void place(const DeltaChunk& c, const Room& room, const float* const* rows, int64_t column) {
    for (int64_t t = 0; t < delta_tokens; t += lanes) {
        for (int64_t r = 0; r < lanes; ++r) {
            float* to = room.few + r * room.columns;
            if (t + r >= c.tokens)
                std::memset(to, 0, size_t(room.columns) * sizeof(float));
            else if (c.per_channel)
                fade_row(rows[t + r], room.sums + (t + r) * room.columns, nullptr, to, c.length,
                         room.columns);
            else
                scale_row(rows[t + r], 1, to, c.length, room.columns);
        }
        for (int64_t i = 0; i < room.columns; i += lanes)
            transpose_square(room.few + i, room.columns, room.both + i * both_tokens + column + t,
                             both_tokens);
    }
}

// to[i][j] = <rows_i, k_j> e^(c_i - c_j), for one decay per token.
void weigh(const DeltaChunk& c, const Room& room, const float* const* rows, float* to) {
    for (int64_t i = 0; i < c.tokens; i += tile_rows)
        for (int64_t j = 0; j < i + tile_rows; j += 2 * lanes) {
            const float* row[tile_rows];
            F sum[tile_rows][2];
            for (int r = 0; r < tile_rows; ++r) {
                row[r] = rows[i + r < c.tokens ? i + r : c.tokens - 1];
                sum[r][0] = sum[r][1] = zero();
            }
            add_products([&](int r, int64_t i) { return row[r][i]; }, room.both + j, both_tokens,
                         c.length, sum);
            for (int r = 0; r < tile_rows; ++r)
                for (int v = 0; v < 2; ++v) {
                    F until = sub(splat(room.sums[i + r]), load_f32(room.sums + j + v * lanes));
                    store(to + (i + r) * delta_tokens + j + v * lanes,
                          mul(sum[r][v], exp(min(until, zero()))));
                }
        }
}

// <k_i, k_j>_ij and <q_i, k_j>_ij for one decay per channel.
void weigh_channels(const DeltaChunk& c, const Room& room, int64_t i, int64_t j) {
    const float *x = room.sums + i * room.columns, *y = room.sums + j * room.columns;
    F keys = zero(), queries = zero();
    float rest_keys = 0, rest_queries = 0;
    each(
        c.length,
        [&](int64_t e) {
            F key = mul(load_f32(c.k[j] + e), exp(sub(load_f32(x + e), load_f32(y + e))));
            keys = fma(load_f32(c.k[i] + e), key, keys);
            queries = fma(load_f32(c.q[i] + e), key, queries);
        },
        [&](int64_t e) {
            float key = c.k[j][e] * __builtin_expf(x[e] - y[e]);
            rest_keys += c.k[i][e] * key;
            rest_queries += c.q[i][e] * key;
        });
    room.among[i * delta_tokens + j] = sum(keys) + rest_keys;
    room.read[i * delta_tokens + j] = sum(queries) + rest_queries;
}

// few[r] = S_(e + r) (e^c k), S_(e + r) (e^c q) of all tokens, for `rows` rows of the state.
template <int rows>
void multiply_rows(const DeltaChunk& c, const Room& room, int64_t e, int64_t r) {
    const float* row[rows];
    for (int i = 0; i < rows; ++i) row[i] = c.state + (e + r + i) * c.length;
    for (int64_t t = 0; t < both_tokens; t += 2 * lanes) {
        F sum[rows][2];
        for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = zero();
        add_products([&](int r, int64_t i) { return row[r][i]; }, room.both + t, both_tokens,
                     c.length, sum);
        for (int i = 0; i < rows; ++i)
            for (int v = 0; v < 2; ++v) {
                F decay = load_f32(room.since + (t + v * lanes) % delta_tokens);
                store(room.few + (r + i) * both_tokens + t + v * lanes, mul(sum[i][v], decay));
            }
    }
}

// deltas = S (e^c k), predictions that substitute() turns into corrections, and results =
// S (e^c q), of all tokens.
void multiply_state(const DeltaChunk& c, const Room& room) {
    for (int64_t e = 0; e < c.rows; e += lanes) {
        const int64_t rows = c.rows - e < lanes ? c.rows - e : lanes;
        int64_t r = 0;
        for (; r + tile_rows <= rows; r += tile_rows) multiply_rows<tile_rows>(c, room, e, r);
        for (; r < rows; ++r) multiply_rows<1>(c, room, e, r);
        for (; r < lanes; ++r)
            std::memset(room.few + r * both_tokens, 0, both_tokens * sizeof(float));
        for (int64_t t = 0; t < both_tokens; t += lanes) {
            float* to = t < delta_tokens ? room.deltas + t * room.stride
                                         : room.results + (t - delta_tokens) * room.stride;
            transpose_square(room.few + t, both_tokens, to + e, room.stride);
        }
    }
}

// The corrections one after another, a row of the state in each lane of some vectors.
template <int vectors>
void substitute(const DeltaChunk& c, const Room& room, int64_t e) {
    for (int64_t i = 0; i < c.tokens; ++i) {
        F known[vectors], result[vectors];
        for (int v = 0; v < vectors; ++v) {
            known[v] = load_f32(room.deltas + i * room.stride + e + v * lanes);
            result[v] = load_f32(room.results + i * room.stride + e + v * lanes);
        }
        for (int64_t j = 0; j < i; ++j) {
            F among = splat(room.among[i * delta_tokens + j]),
              read = splat(room.read[i * delta_tokens + j]);
            for (int v = 0; v < vectors; ++v) {
                F delta = load_f32(room.deltas + j * room.stride + e + v * lanes);
                known[v] = fma(delta, among, known[v]);
                result[v] = fma(delta, read, result[v]);
            }
        }
        F beta = splat(*c.beta[i]), read = splat(room.read[i * delta_tokens + i]);
        for (int v = 0; v < vectors; ++v) {
            const int64_t at = i * room.stride + e + v * lanes;
            F delta = mul(sub(load_f32(room.values + at), known[v]), beta);
            store(room.deltas + at, delta);
            store(room.results + at, fma(delta, read, result[v]));
        }
    }
}

template <int rows>
void update_rows(const DeltaChunk& c, const Room& room, int64_t e) {
    const float* deltas[rows];
    for (int r = 0; r < rows; ++r) deltas[r] = room.deltas + e + r;
    int64_t i = 0;
    for (; i + 2 * lanes <= c.length; i += 2 * lanes) {
        F sum[rows][2];
        for (int r = 0; r < rows; ++r)
            for (int v = 0; v < 2; ++v)
                sum[r][v] = mul(load_f32(c.state + (e + r) * c.length + i + v * lanes),
                                load_f32(room.all + i + v * lanes));
        add_products([&](int r, int64_t t) { return deltas[r][t * room.stride]; }, room.outer + i,
                     room.columns, c.tokens, sum);
        for (int r = 0; r < rows; ++r)
            for (int v = 0; v < 2; ++v)
                store(c.state + (e + r) * c.length + i + v * lanes, sum[r][v]);
    }
    for (; i < c.length; ++i)
        for (int r = 0; r < rows; ++r) {
            float* s = c.state + (e + r) * c.length + i;
            *s *= room.all[i];
            for (int64_t t = 0; t < c.tokens; ++t)
                *s += deltas[r][t * room.stride] * room.outer[t * room.columns + i];
        }
}

void copy_row(const float* x, float* y, int64_t count) {
    std::memcpy(y, x, size_t(count) * sizeof(float));
}

}  // namespace

void delta_chunk(const DeltaChunk& c) {
    const Room room(c);
    if (c.per_channel)
        add_up_channels(c, room);
    else
        add_up_decays(c, room);
    place(c, room, c.k, 0);
    place(c, room, c.q, delta_tokens);
    if (c.per_channel) {
        for (int64_t i = 0; i < c.tokens; ++i)
            for (int64_t j = 0; j <= i; ++j) weigh_channels(c, room, i, j);
    } else {
        weigh(c, room, c.k, room.among);
        weigh(c, room, c.q, room.read);
    }
    multiply_state(c, room);
    for (int64_t t = 0; t < c.tokens; ++t) {
        float* row = room.values + t * room.stride;
        copy_row(c.v[t], row, c.rows);
        for (int64_t e = c.rows; e < room.stride; ++e) row[e] = 0;
    }
    int64_t e = 0;
    for (; e + 4 * lanes <= c.rows; e += 4 * lanes) substitute<4>(c, room, e);
    for (; e < c.rows; e += lanes) substitute<1>(c, room, e);
    for (int64_t t = 0; t < c.tokens; ++t)
        copy_row(room.results + t * room.stride, c.out[t], c.rows);
    for (e = 0; e + tile_rows <= c.rows; e += tile_rows) update_rows<tile_rows>(c, room, e);
    for (; e < c.rows; ++e) update_rows<1>(c, room, e);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
