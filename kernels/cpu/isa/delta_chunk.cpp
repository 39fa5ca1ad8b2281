// The gated delta rule on rows of a head's state, a chunk of tokens at once.
//
// With the decays up to token i added up to c_i, the corrections follow from the state before the
// chunk and from each other (Yang et al. 2024, the forward substitution of their chunked form):
//
//     delta_i = beta_i (v_i - S (e^c_i k_i) - sum over j < i of <k_i, k_j>_ij delta_j)
//     out_i   =         S (e^c_i q_i) + sum over j <= i of <q_i, k_j>_ij delta_j
//     S      <- S e^c_last + sum over j of delta_j (e^(c_last - c_j) k_j)^T
//
// where <a, b>_ij weighs every channel by e^(c_i - c_j). Exponents are differences, never above 0;
// what one large decay would take from the bits of those after it, it is cut off.
//
// Products go in tiles, which stay in registers: rows whose elements are spread over a vector, by
// two vectors of columns.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

constexpr int n = delta_tokens;
constexpr int tile = lanes / 2;  // rows, by two vectors: half of all registers

constexpr int64_t whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

// The scratch memory of a chunk. What lies behind its tokens is 0, or never looked at.
struct Room {
    int64_t d;                         // columns of the state, in whole lines
    int64_t stride;                    // rows of it, likewise
    float* both;                       // [d][2 n]: keys, then queries, a token in each column
    float* outer;                      // [n][d]: keys with the decay to the chunk's end
    float *among, *read;               // [n][n]: <k_i, k_j>_ij for j < i, <q_i, k_j>_ij for j <= i
    float* sums;                       // [n][d], or [n]: decays added up
    float* since;                      // [n]: e^c
    float* all;                        // [d]: the decay of the whole chunk
    float *values, *deltas, *results;  // [n][stride]: a row of them per token
    float* few;                        // [lanes][d] or [lanes][2 n]: rows to be transposed

    explicit Room(const DeltaChunk& c) : d(whole_lines(c.length)), stride(whole_lines(c.rows)) {
        float* p = c.scratch + (-reinterpret_cast<intptr_t>(c.scratch) / 4 & 15);
        auto take = [&](int64_t count) {
            float* at = p;
            p += count;
            return at;
        };
        both = take(d * 2 * n), outer = take(n * d), among = take(n * n), read = take(n * n);
        sums = take(n * d), since = take(n), all = take(d);
        values = take(n * stride), deltas = take(n * stride), results = take(n * stride);
        few = take(16 * (d > 2 * n ? d : 2 * n));
    }
};

// sum += a b for `Rows` rows a, whose elements lie `step` floats apart, and b [inner][2 lanes].
template <int Rows>
inline void add_products(const float* const (&a)[Rows], int64_t step, const float* b,
                         int64_t b_stride, int64_t inner, F (&sum)[Rows][2]) {
    for (int64_t i = 0; i < inner; ++i) {
        F left = load_f32(b + i * b_stride), right = load_f32(b + i * b_stride + lanes);
        for (int r = 0; r < Rows; ++r) {
            F x = splat(a[r][i * step]);
            sum[r][0] = fma(x, left, sum[r][0]);
            sum[r][1] = fma(x, right, sum[r][1]);
        }
    }
}

// y = x e^(a - b), without b x e^a; zeros behind it.
void fade_row(const float* x, const float* a, const float* b, float* y, int64_t count,
              int64_t whole) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        F power = b ? sub(load_f32(a + i), load_f32(b + i)) : load_f32(a + i);
        store(y + i, mul(load_f32(x + i), exp(power)));
    }
    for (; i < count; ++i) y[i] = x[i] * __builtin_expf(a[i] - (b ? b[i] : 0));
    for (; i < whole; ++i) y[i] = 0;
}

void scale_row(const float* x, float factor, float* y, int64_t count, int64_t whole) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(y + i, mul(load_f32(x + i), splat(factor)));
    for (; i < count; ++i) y[i] = x[i] * factor;
    for (; i < whole; ++i) y[i] = 0;
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
    for (int64_t t = c.tokens; t < n; ++t) room.sums[t] = sum;
    for (int64_t t = 0; t < n; t += lanes) store(room.since + t, exp(load_f32(room.sums + t)));
    for (int64_t i = 0; i < room.d; ++i) room.all[i] = room.since[c.tokens - 1];
    for (int64_t t = 0; t < c.tokens; ++t)
        scale_row(c.k[t], __builtin_expf(sum - room.sums[t]), room.outer + t * room.d, c.length,
                  room.d);
}

// One per channel.
void add_up_channels(const DeltaChunk& c, const Room& room) {
    const float* last = room.sums + (c.tokens - 1) * room.d;
    for (int64_t t = 0; t < c.tokens; ++t)
        for (int64_t i = 0; i < c.length; ++i) {
            float before = t > 0 ? room.sums[(t - 1) * room.d + i] : 0;
            room.sums[t * room.d + i] = before + added(c.decay[t][i]);
        }
    for (int64_t t = 0; t < n; ++t) room.since[t] = 1;
    for (int64_t i = 0; i < room.d; ++i) room.all[i] = 1;
    fade_row(room.all, last, nullptr, room.all, c.length, room.d);
    for (int64_t t = 0; t < c.tokens; ++t)
        fade_row(c.k[t], last, room.sums + t * room.d, room.outer + t * room.d, c.length, room.d);
}

// both[i][column + t] = rows[t][i], decayed where decays are per channel.
void place(const DeltaChunk& c, const Room& room, const float* const* rows, int64_t column) {
    for (int64_t t = 0; t < n; t += lanes) {
        for (int64_t r = 0; r < lanes; ++r) {
            float* to = room.few + r * room.d;
            if (t + r >= c.tokens)
                std::memset(to, 0, size_t(room.d) * sizeof(float));
            else if (c.per_channel)
                fade_row(rows[t + r], room.sums + (t + r) * room.d, nullptr, to, c.length, room.d);
            else
                scale_row(rows[t + r], 1, to, c.length, room.d);
        }
        for (int64_t i = 0; i < room.d; i += lanes)
            transpose_square(room.few + i, room.d, room.both + i * 2 * n + column + t, 2 * n);
    }
}

// to[i][j] = <rows_i, k_j> e^(c_i - c_j), for one decay per token.
void weigh(const DeltaChunk& c, const Room& room, const float* const* rows, float* to) {
    for (int64_t i = 0; i < c.tokens; i += tile)
        for (int64_t j = 0; j < i + tile; j += 2 * lanes) {
            const float* row[tile];
            F sum[tile][2];
            for (int r = 0; r < tile; ++r) {
                row[r] = rows[i + r < c.tokens ? i + r : c.tokens - 1];
                sum[r][0] = sum[r][1] = zero();
            }
            add_products(row, 1, room.both + j, 2 * n, c.length, sum);
            for (int r = 0; r < tile; ++r)
                for (int v = 0; v < 2; ++v) {
                    F until = sub(splat(room.sums[i + r]), load_f32(room.sums + j + v * lanes));
                    store(to + (i + r) * n + j + v * lanes,
                          mul(sum[r][v], exp(min(until, zero()))));
                }
        }
}

// <k_i, k_j>_ij and <q_i, k_j>_ij for one decay per channel.
void weigh_channels(const DeltaChunk& c, const Room& room, int64_t i, int64_t j) {
    const float *x = room.sums + i * room.d, *y = room.sums + j * room.d;
    F keys = zero(), queries = zero();
    float rest_keys = 0, rest_queries = 0;
    int64_t e = 0;
    for (; e + lanes <= c.length; e += lanes) {
        F key = mul(load_f32(c.k[j] + e), exp(sub(load_f32(x + e), load_f32(y + e))));
        keys = fma(load_f32(c.k[i] + e), key, keys);
        queries = fma(load_f32(c.q[i] + e), key, queries);
    }
    for (; e < c.length; ++e) {
        float key = c.k[j][e] * __builtin_expf(x[e] - y[e]);
        rest_keys += c.k[i][e] * key;
        rest_queries += c.q[i][e] * key;
    }
    room.among[i * n + j] = sum(keys) + rest_keys;
    room.read[i * n + j] = sum(queries) + rest_queries;
}

// few[r] = S_(e + r) k, S_(e + r) q of all tokens, for `Rows` rows of the state.
template <int Rows>
void multiply_rows(const DeltaChunk& c, const Room& room, int64_t e, int64_t r) {
    const float* row[Rows];
    for (int i = 0; i < Rows; ++i) row[i] = c.state + (e + r + i) * c.length;
    for (int64_t t = 0; t < 2 * n; t += 2 * lanes) {
        F sum[Rows][2];
        for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = zero();
        add_products(row, 1, room.both + t, 2 * n, c.length, sum);
        for (int i = 0; i < Rows; ++i)
            for (int v = 0; v < 2; ++v) {
                F decay = load_f32(room.since + (t + v * lanes) % n);
                store(room.few + (r + i) * 2 * n + t + v * lanes, mul(sum[i][v], decay));
            }
    }
}

// deltas = S k and results = S q, of all tokens.
void multiply_state(const DeltaChunk& c, const Room& room) {
    for (int64_t e = 0; e < c.rows; e += lanes) {
        const int64_t rows = c.rows - e < lanes ? c.rows - e : lanes;
        int64_t r = 0;
        for (; r + tile <= rows; r += tile) multiply_rows<tile>(c, room, e, r);
        for (; r < rows; ++r) multiply_rows<1>(c, room, e, r);
        for (; r < lanes; ++r) std::memset(room.few + r * 2 * n, 0, 2 * n * sizeof(float));
        for (int64_t t = 0; t < 2 * n; t += lanes) {
            float* to =
                t < n ? room.deltas + t * room.stride : room.results + (t - n) * room.stride;
            transpose_square(room.few + t, 2 * n, to + e, room.stride);
        }
    }
}

// The corrections one after another, a row of the state in each lane of some vectors.
template <int Vectors>
void substitute(const DeltaChunk& c, const Room& room, int64_t e) {
    for (int64_t i = 0; i < c.tokens; ++i) {
        F known[Vectors], result[Vectors];
        for (int v = 0; v < Vectors; ++v) {
            known[v] = load_f32(room.deltas + i * room.stride + e + v * lanes);
            result[v] = load_f32(room.results + i * room.stride + e + v * lanes);
        }
        for (int64_t j = 0; j < i; ++j) {
            F among = splat(room.among[i * n + j]), read = splat(room.read[i * n + j]);
            for (int v = 0; v < Vectors; ++v) {
                F delta = load_f32(room.deltas + j * room.stride + e + v * lanes);
                known[v] = fma(delta, among, known[v]);
                result[v] = fma(delta, read, result[v]);
            }
        }
        F beta = splat(*c.beta[i]), read = splat(room.read[i * n + i]);
        for (int v = 0; v < Vectors; ++v) {
            const int64_t at = i * room.stride + e + v * lanes;
            F delta = mul(sub(load_f32(room.values + at), known[v]), beta);
            store(room.deltas + at, delta);
            store(room.results + at, fma(delta, read, result[v]));
        }
    }
}

template <int Rows>
void update_rows(const DeltaChunk& c, const Room& room, int64_t e) {
    const float* deltas[Rows];
    for (int r = 0; r < Rows; ++r) deltas[r] = room.deltas + e + r;
    int64_t i = 0;
    for (; i + 2 * lanes <= c.length; i += 2 * lanes) {
        F sum[Rows][2];
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < 2; ++v)
                sum[r][v] = mul(load_f32(c.state + (e + r) * c.length + i + v * lanes),
                                load_f32(room.all + i + v * lanes));
        add_products(deltas, room.stride, room.outer + i, room.d, c.tokens, sum);
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < 2; ++v)
                store(c.state + (e + r) * c.length + i + v * lanes, sum[r][v]);
    }
    for (; i < c.length; ++i)
        for (int r = 0; r < Rows; ++r) {
            float* s = c.state + (e + r) * c.length + i;
            *s *= room.all[i];
            for (int64_t t = 0; t < c.tokens; ++t)
                *s += deltas[r][t * room.stride] * room.outer[t * room.d + i];
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
    place(c, room, c.q, n);
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
    for (e = 0; e + tile <= c.rows; e += tile) update_rows<tile>(c, room, e);
    for (; e < c.rows; ++e) update_rows<1>(c, room, e);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
