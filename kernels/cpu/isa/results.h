// Where products put what they found for a group of rows.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// The results of one group for a token: the last group may have fewer rows than lanes.
struct ResultRows {
    float* y = nullptr;
    int64_t count = 0;

    static ResultRows of(const Product& product, int64_t group, int64_t token) {
        const int64_t row = group * lanes, left = product.rows - row;
        const int64_t to = product.y_rows ? product.y_rows[token] : token;
        return {product.y + to * product.y_stride + row, left < lanes ? left : lanes};
    }

    F load() const {
        if (count == lanes) return load_f32(y);
        float present[lanes] = {};
        for (int64_t i = 0; i < count; ++i) present[i] = y[i];
        return load_f32(present);
    }

    void store(F value) const {
        if (count == lanes) return TANDEM_ISA::store(y, value);
        float values[lanes];
        TANDEM_ISA::store(values, value);
        for (int64_t i = 0; i < count; ++i) y[i] = values[i];
    }
};

// Results that no middle cache holds until they are read go past them: lines that are written whole
// need not be fetched.
inline constexpr int64_t nontemporal_bytes = 2 << 20;
inline bool passes_caches(const Product& product, int64_t least_bytes = nontemporal_bytes) {
    return lanes * sizeof(float) == 64 && !product.weights &&
           product.tokens * product.rows * 4 >= least_bytes && product.y_stride % lanes == 0 &&
           reinterpret_cast<uintptr_t>(product.y) % 64 == 0;
}

// Stores the results of one group for T tokens.
template <int T>
inline void put(const Product& product, int64_t group, int64_t token, const F (&results)[T]) {
    for (int t = 0; t < T; ++t) {
        const ResultRows rows = ResultRows::of(product, group, token + t);
        F value = results[t];
        if (product.weights) value = fma(value, splat(product.weights[token + t]), rows.load());
        rows.store(value);
    }
}

// Results of some tokens of a tile for one group of rows, `stride` floats from token to token.
inline void put_tile(const Product& product, int64_t group, int64_t token, int64_t tokens,
                     const float* results, int64_t stride) {
    for (int64_t t = 0; t < tokens; ++t)
        put<1>(product, group, token + t, {load_f32(results + t * stride)});
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
