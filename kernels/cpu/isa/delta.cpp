// The gated delta rule on a head's state: token by token, or a chunk of tokens at once.
//
// In a chunk, with the decays up to token i added up to c_i, the corrections follow from the state
// before the chunk and from each other (Yang et al. 2024, the forward substitution of their
// chunked form):
//
//     delta_i = beta_i (v_i - S (e^c_i k_i) - sum over j < i of <k_i, k_j>_ij delta_j)
//     out_i   =         S (e^c_i q_i) + sum over j <= i of <q_i, k_j>_ij delta_j
//     S      <- S e^c_last + sum over j of delta_j (e^(c_last - c_j) k_j)^T
//
// where <a, b>_ij weighs every channel by e^(c_i - c_j). Exponents are differences, never above 0.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The prediction needs the whole decayed row before the row changes, so that the row goes through
// the first cache twice.
void delta_step(const DeltaStep& s) {
    for (int64_t e = 0; e < s.count; ++e) {
        float* row = s.state + e * s.length;
        F sums = zero();
        float rest = 0;
        int64_t i = 0;
        for (; i + lanes <= s.length; i += lanes) {
            F decay = s.decays ? load_f32(s.decays + i) : splat(s.decay);
            F decayed = mul(load_f32(row + i), decay);
            store(row + i, decayed);
            sums = fma(decayed, load_f32(s.k + i), sums);
        }
        for (; i < s.length; ++i) {
            row[i] *= s.decays ? s.decays[i] : s.decay;
            rest += row[i] * s.k[i];
        }
        float delta = s.beta * (s.v[e] - (sum(sums) + rest));
        sums = zero();
        rest = 0;
        for (i = 0; i + lanes <= s.length; i += lanes) {
            F updated = fma(load_f32(s.k + i), splat(delta), load_f32(row + i));
            store(row + i, updated);
            sums = fma(updated, load_f32(s.q + i), sums);
        }
        for (; i < s.length; ++i) {
            row[i] += delta * s.k[i];
            rest += row[i] * s.q[i];
        }
        s.out[e] = sum(sums) + rest;
    }
}

namespace {

constexpr int n = delta_tokens;
constexpr int vectors = n / lanes;  // of one number per token

// The scratch memory of a chunk.
struct Room {
    float *keys, *queries;    // [d][n], with the decay since the chunk began
    float* outer;             // [n][d]: keys with the decay to the chunk's end
    float *among, *read;      // [n][n]: <k_i, k_j>_ij for j < i, <q_i, k_j>_ij for j <= i
    float* sums;              // [n][d]: decays added up
    float *since, *until;     // [d]: of one token
    float *deltas, *results;  // [n][stride]: a row of them per token
    float* value;             // [stride]
    int64_t stride;           // rows of the state, in whole vectors

    Room(float* p, int64_t d, int64_t rows) : stride((rows + lanes - 1) / lanes * lanes) {
        auto take = [&](int64_t count) {
            float* at = p;
            p += count;
            return at;
        };
        keys = take(d * n), queries = take(d * n), outer = take(d * n), sums = take(d * n);
        among = take(n * n), read = take(n * n), since = take(d), until = take(d);
        deltas = take(n * stride), results = take(n * stride), value = take(stride);
    }
};

// y = e^(a - b); without b e^a.
void exp_row(const float* a, const float* b, float* y, int64_t count) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        store(y + i, exp(b ? sub(load_f32(a + i), load_f32(b + i)) : load_f32(a + i)));
    for (; i < count; ++i) y[i] = __builtin_expf(a[i] - (b ? b[i] : 0));
}

// Decays are spread over the channels, so that both kinds go one way.
void add_up_decays(const DeltaChunk& c, const Room& room) {
    for (int64_t t = 0; t < c.tokens; ++t)
        for (int64_t i = 0; i < c.length; ++i) {
            float before = t > 0 ? room.sums[(t - 1) * c.length + i] : 0;
            room.sums[t * c.length + i] = before + c.decay[t][c.per_channel ? i : 0];
        }
}

void place_keys(const DeltaChunk& c, const Room& room) {
    const int64_t d = c.length;
    const float* last = room.sums + (c.tokens - 1) * d;
    for (int64_t i = 0; i < d * n; ++i) room.keys[i] = room.queries[i] = 0;
    for (int64_t t = 0; t < c.tokens; ++t) {
        const float* own = room.sums + t * d;
        exp_row(own, nullptr, room.since, d);
        exp_row(last, own, room.until, d);
        for (int64_t i = 0; i < d; ++i) {
            room.keys[i * n + t] = room.since[i] * c.k[t][i];
            room.queries[i * n + t] = room.since[i] * c.q[t][i];
            room.outer[t * d + i] = room.until[i] * c.k[t][i];
        }
    }
}

// <k_i, k_j>_ij and <q_i, k_j>_ij.
void weigh(const DeltaChunk& c, const Room& room, int64_t i, int64_t j) {
    const int64_t d = c.length;
    const float *x = room.sums + i * d, *y = room.sums + j * d;
    F keys = zero(), queries = zero();
    float rest_keys = 0, rest_queries = 0;
    const float all = c.per_channel ? 1 : __builtin_expf(x[0] - y[0]);
    int64_t e = 0;
    for (; e + lanes <= d; e += lanes) {
        F key = load_f32(c.k[j] + e);
        if (c.per_channel) key = mul(key, exp(sub(load_f32(x + e), load_f32(y + e))));
        keys = fma(load_f32(c.k[i] + e), key, keys);
        queries = fma(load_f32(c.q[i] + e), key, queries);
    }
    for (; e < d; ++e) {
        float key = c.k[j][e] * (c.per_channel ? __builtin_expf(x[e] - y[e]) : 1);
        rest_keys += c.k[i][e] * key;
        rest_queries += c.q[i][e] * key;
    }
    room.among[i * n + j] = all * (sum(keys) + rest_keys);
    room.read[i * n + j] = all * (sum(queries) + rest_queries);
}

// S k and S q of two rows of the state for all tokens, a token in each lane.
template <int R>
void multiply_state(const DeltaChunk& c, const Room& room, int64_t e) {
    F keys[R][vectors], queries[R][vectors];
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < vectors; ++v) keys[r][v] = queries[r][v] = zero();
    for (int64_t i = 0; i < c.length; ++i)
        for (int r = 0; r < R; ++r) {
            F s = splat(c.state[(e + r) * c.length + i]);
            for (int v = 0; v < vectors; ++v) {
                keys[r][v] = fma(load_f32(room.keys + i * n + v * lanes), s, keys[r][v]);
                queries[r][v] = fma(load_f32(room.queries + i * n + v * lanes), s, queries[r][v]);
            }
        }
    for (int r = 0; r < R; ++r) {
        float key[n], query[n];
        for (int v = 0; v < vectors; ++v) {
            store(key + v * lanes, keys[r][v]);
            store(query + v * lanes, queries[r][v]);
        }
        for (int64_t t = 0; t < c.tokens; ++t) {
            room.deltas[t * room.stride + e + r] = key[t];
            room.results[t * room.stride + e + r] = query[t];
        }
    }
}

// The corrections one after another, a row of the state in each lane.
void substitute(const DeltaChunk& c, const Room& room) {
    for (int64_t i = 0; i < c.tokens; ++i) {
        std::memcpy(room.value, c.v[i], size_t(c.rows) * sizeof(float));
        for (int64_t e = 0; e < room.stride; e += lanes) {
            float* own = room.deltas + i * room.stride + e;
            F missing = sub(load_f32(room.value + e), load_f32(own));
            F result = load_f32(room.results + i * room.stride + e);
            for (int64_t j = 0; j < i; ++j) {
                F delta = load_f32(room.deltas + j * room.stride + e);
                missing = fma(delta, splat(-room.among[i * n + j]), missing);
                result = fma(delta, splat(room.read[i * n + j]), result);
            }
            F delta = mul(missing, splat(*c.beta[i]));
            store(own, delta);
            store(room.results + i * room.stride + e,
                  fma(delta, splat(room.read[i * n + i]), result));
        }
        std::memcpy(c.out[i], room.results + i * room.stride, size_t(c.rows) * sizeof(float));
    }
}

// `since` holds the decay of the whole chunk.
void update_state(const DeltaChunk& c, const Room& room) {
    const int64_t d = c.length;
    for (int64_t e = 0; e < c.rows; ++e) {
        float* row = c.state + e * d;
        int64_t i = 0;
        for (; i + lanes <= d; i += lanes) {
            F s = mul(load_f32(row + i), load_f32(room.since + i));
            for (int64_t t = 0; t < c.tokens; ++t)
                s = fma(load_f32(room.outer + t * d + i), splat(room.deltas[t * room.stride + e]),
                        s);
            store(row + i, s);
        }
        for (; i < d; ++i) {
            float s = row[i] * room.since[i];
            for (int64_t t = 0; t < c.tokens; ++t)
                s += room.outer[t * d + i] * room.deltas[t * room.stride + e];
            row[i] = s;
        }
    }
}

}  // namespace

void delta_chunk(const DeltaChunk& c) {
    Room room(c.scratch, c.length, c.rows);
    for (int64_t e = c.rows; e < room.stride; ++e) {
        room.value[e] = 0;
        for (int64_t t = 0; t < n; ++t)
            room.deltas[t * room.stride + e] = room.results[t * room.stride + e] = 0;
    }
    add_up_decays(c, room);
    place_keys(c, room);  // last of all the last token, whose decay is that of the chunk
    for (int64_t i = 0; i < c.tokens; ++i)
        for (int64_t j = 0; j <= i; ++j) weigh(c, room, i, j);
    int64_t e = 0;
    for (; e + 2 <= c.rows; e += 2) multiply_state<2>(c, room, e);
    if (e < c.rows) multiply_state<1>(c, room, e);
    substitute(c, room);
    update_state(c, room);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
