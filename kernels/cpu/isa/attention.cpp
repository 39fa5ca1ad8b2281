// Flash attention over blocks of cells: keys and values of a block are widened to f32 once for all
// queries of a kv head, then each query updates its running maximum, sum and output.
#include "gguf/dtype.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/vector_math.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

using gguf::DType;

constexpr int cells = attention_cells;

// One row of a cache as f32. Rows of Q8_0 are blocks of f16 scale and 32 bytes.
inline void widen(int type, const uint8_t* row, int64_t count, float* to) {
    auto rest = [&](int64_t i, auto get) {
        for (; i < count; ++i) {
            float one[lanes];
            uint8_t last[4 * lanes] = {};
            std::memcpy(last, get(i), type == int(DType::F32) ? 4 : 2);
            store(one, type == int(DType::F32)   ? load_f32(last)
                       : type == int(DType::F16) ? load_f16(last)
                                                 : load_bf16(last));
            to[i] = one[0];
        }
    };
    int64_t i = 0;
    switch (DType(type)) {
        case DType::F32:
            for (; i + lanes <= count; i += lanes) store(to + i, load_f32(row + 4 * i));
            return rest(i, [&](int64_t k) { return row + 4 * k; });
        case DType::F16:
            for (; i + lanes <= count; i += lanes) store(to + i, load_f16(row + 2 * i));
            return rest(i, [&](int64_t k) { return row + 2 * k; });
        case DType::BF16:
            for (; i + lanes <= count; i += lanes) store(to + i, load_bf16(row + 2 * i));
            return rest(i, [&](int64_t k) { return row + 2 * k; });
        default:
            for (; i < count; i += 32, row += 34) {
                uint8_t scales[2 * lanes];
                for (int k = 0; k < lanes; ++k) std::memcpy(scales + 2 * k, row, 2);
                F scale = load_f16(scales);
                for (int k = 0; k < 32; k += lanes)
                    store(to + i + k, mul(scale, to_float(load_s8(row + 2 + k))));
            }
    }
}

// A block of positions from `first` on, as f32: rows by element, [length][cells] for keys.
void widen_keys(const CacheHead& cache, int64_t first, int64_t block, float* row, float* keys) {
    for (int64_t c = 0; c < block; ++c) {
        widen(cache.type, cache.rows + (first + c) % cache.cells * cache.stride, cache.length, row);
        for (int64_t e = 0; e < cache.length; ++e) keys[e * cells + c] = row[e];
    }
    int64_t padded = (block + lanes - 1) / lanes * lanes;
    for (int64_t c = block; c < padded; ++c)
        for (int64_t e = 0; e < cache.length; ++e) keys[e * cells + c] = 0;
}

// q k^T of one query with `lanes` cells from `c` on.
inline F products(const float* q, const float* keys, int64_t length, int64_t c) {
    F even = zero(), odd = zero();
    int64_t e = 0;
    for (; e + 2 <= length; e += 2) {
        even = fma(load_f32(keys + e * cells + c), splat(q[e]), even);
        odd = fma(load_f32(keys + (e + 1) * cells + c), splat(q[e + 1]), odd);
    }
    if (e < length) even = fma(load_f32(keys + e * cells + c), splat(q[e]), even);
    return add(even, odd);
}

}  // namespace

void attend(const Attention& a) {
    const int64_t d = a.k.length, dv = a.v.length, d2 = a.k2.rows ? a.k2.length : 0;
    float* keys = a.scratch;              // [d][cells]: a vector holds one element of many cells
    float* keys2 = keys + cells * d;      // [d2][cells]
    float* values = keys2 + cells * d2;   // [cells][dv]
    float* scores = values + cells * dv;  // [queries][cells]
    float* most = scores + attention_queries * cells;  // [queries]
    float* total = most + attention_queries;           // [queries]
    float* row = total + attention_queries;            // one key
    int64_t begin = a.first[0], end = 0;
    for (int64_t i = 0; i < a.queries; ++i) {
        most[i] = a.sinks ? a.sinks[i] : -__builtin_inff();
        total[i] = a.sinks ? 1 : 0;
        for (int64_t e = 0; e < dv; ++e) a.out[i][e] = 0;
        begin = a.first[i] < begin ? a.first[i] : begin;
        end = a.end[i] > end ? a.end[i] : end;
    }
    for (int64_t first = begin; first < end; first += cells) {
        int64_t block = end - first < cells ? end - first : cells;
        widen_keys(a.k, first, block, row, keys);
        if (d2 > 0) widen_keys(a.k2, first, block, row, keys2);
        for (int64_t c = 0; c < block; ++c)
            widen(a.v.type, a.v.rows + (first + c) % a.v.cells * a.v.stride, dv, values + c * dv);
        for (int64_t i = 0; i < a.queries; ++i) {
            // What this query sees of the block.
            int64_t from = a.first[i] > first ? a.first[i] - first : 0;
            int64_t mine = a.end[i] - first < block ? a.end[i] - first : block;
            if (mine <= from) continue;
            float* p = scores + i * cells;
            float best = most[i];
            for (int64_t c = from / lanes * lanes; c < mine; c += lanes) {
                F score = products(a.q[i], keys, d, c);
                if (d2 > 0) score = add(score, products(a.q2[i], keys2, d2, c));
                store(p + c, mul(score, splat(a.scale)));
            }
            for (int64_t c = from; c < mine; ++c) best = p[c] > best ? p[c] : best;
            // What was summed so far counted from the old maximum.
            float shrink[lanes];
            store(shrink, exp(splat(most[i] - best)));
            float factor = most[i] == best ? 1 : shrink[0];
            most[i] = best;
            for (int64_t c = from / lanes * lanes; c < from; ++c) p[c] = -__builtin_inff();
            for (int64_t c = mine; c < (mine + lanes - 1) / lanes * lanes; ++c)
                p[c] = -__builtin_inff();
            F sums = zero();
            for (int64_t c = from / lanes * lanes; c < mine; c += lanes) {
                F e = exp(sub(load_f32(p + c), splat(best)));
                store(p + c, e);
                sums = add(sums, e);
            }
            total[i] = total[i] * factor + sum(sums);
            int64_t e = 0;
            for (; e + lanes <= dv; e += lanes) {
                F out = mul(load_f32(a.out[i] + e), splat(factor));
                for (int64_t c = from; c < mine; ++c)
                    out = fma(load_f32(values + c * dv + e), splat(p[c]), out);
                store(a.out[i] + e, out);
            }
            for (; e < dv; ++e) {
                float out = a.out[i][e] * factor;
                for (int64_t c = from; c < mine; ++c) out += values[c * dv + e] * p[c];
                a.out[i][e] = out;
            }
        }
    }
    for (int64_t i = 0; i < a.queries; ++i) {
        float factor = 1 / total[i];
        for (int64_t e = 0; e < dv; ++e) a.out[i][e] *= factor;
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
