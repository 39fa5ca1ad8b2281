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

}  // namespace

void attend(const Attention& a) {
    float* keys = a.scratch;                // [d][cells]: a vector holds one element of many cells
    float* values = keys + cells * a.d;     // [cells][dv]
    float* scores = values + cells * a.dv;  // [queries][cells]
    float* key = scores + attention_queries * cells;  // one row
    float* most = key + attention_queries * a.d;      // [queries]
    float* total = most + attention_queries;          // [queries]
    int64_t seen = 0;
    for (int64_t i = 0; i < a.queries; ++i) {
        most[i] = -__builtin_inff();
        total[i] = 0;
        for (int64_t e = 0; e < a.dv; ++e) a.out[i][e] = 0;
        seen = a.cells[i] > seen ? a.cells[i] : seen;
    }
    for (int64_t first = 0; first < seen; first += cells) {
        int64_t block = seen - first < cells ? seen - first : cells;
        for (int64_t c = 0; c < block; ++c) {
            widen(a.key_type, a.k + (first + c) * a.k_stride, a.d, key);
            for (int64_t e = 0; e < a.d; ++e) keys[e * cells + c] = key[e];
            widen(a.value_type, a.v + (first + c) * a.v_stride, a.dv, values + c * a.dv);
        }
        int64_t padded = (block + lanes - 1) / lanes * lanes;
        for (int64_t c = block; c < padded; ++c)
            for (int64_t e = 0; e < a.d; ++e) keys[e * cells + c] = 0;
        for (int64_t i = 0; i < a.queries; ++i) {
            int64_t mine = a.cells[i] - first < block ? a.cells[i] - first : block;
            if (mine <= 0) continue;
            float* p = scores + i * cells;
            float best = most[i];
            for (int64_t c = 0; c < mine; c += lanes) {
                F even = zero(), odd = zero();
                int64_t e = 0;
                for (; e + 2 <= a.d; e += 2) {
                    even = fma(load_f32(keys + e * cells + c), splat(a.q[i][e]), even);
                    odd = fma(load_f32(keys + (e + 1) * cells + c), splat(a.q[i][e + 1]), odd);
                }
                if (e < a.d) even = fma(load_f32(keys + e * cells + c), splat(a.q[i][e]), even);
                store(p + c, mul(add(even, odd), splat(a.scale)));
            }
            for (int64_t c = 0; c < mine; ++c) best = p[c] > best ? p[c] : best;
            // What was summed so far counted from the old maximum.
            float shrink[lanes];
            store(shrink, exp(splat(most[i] - best)));
            float factor = most[i] == best ? 1 : shrink[0];
            most[i] = best;
            for (int64_t c = mine; c < (mine + lanes - 1) / lanes * lanes; ++c)
                p[c] = -__builtin_inff();
            F sums = zero();
            for (int64_t c = 0; c < mine; c += lanes) {
                F e = exp(sub(load_f32(p + c), splat(best)));
                store(p + c, e);
                sums = add(sums, e);
            }
            total[i] = total[i] * factor + sum(sums);
            int64_t e = 0;
            for (; e + lanes <= a.dv; e += lanes) {
                F out = mul(load_f32(a.out[i] + e), splat(factor));
                for (int64_t c = 0; c < mine; ++c)
                    out = fma(load_f32(values + c * a.dv + e), splat(p[c]), out);
                store(a.out[i] + e, out);
            }
            for (; e < a.dv; ++e) {
                float out = a.out[i][e] * factor;
                for (int64_t c = 0; c < mine; ++c) out += values[c * a.dv + e] * p[c];
                a.out[i][e] = out;
            }
        }
    }
    for (int64_t i = 0; i < a.queries; ++i) {
        float factor = 1 / total[i];
        for (int64_t e = 0; e < a.dv; ++e) a.out[i][e] *= factor;
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
