// How products with few tokens go over rows and tokens, whatever kind of numbers they multiply:
// packed groups of rows stay packed and pass some tokens at a time, whose sums stay in registers.
#pragma once

#include "kernels/cpu/isa/groups.h"
#include "kernels/cpu/isa/results.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline const uint8_t* token_row(const Product& product, int64_t token) {
    const int64_t from = product.x_rows ? product.x_rows[token] : token;
    return product.x + from * product.x_stride;
}

// T tokens from `token` on, G packed groups.
template <int G, int T, typename MultiplyRows>
inline void run_rows(const Product& product, int64_t group, int64_t token, const uint8_t* weights,
                     MultiplyRows multiply) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = token_row(product, token + t);
    F results[G][T];
    multiply(weights, x, results);
    for (int g = 0; g < G; ++g) put<T>(product, group + g, token, results[g]);
}

// visit<count>() for a count from 1 to `most`, or for powers of two where those are all there are.
template <int most, bool powers, typename Visit>
inline void with_count(int64_t count, Visit visit) {
    if (count == most)
        visit.template operator()<most>();
    else if constexpr (most > 1)
        with_count<powers ? most / 2 : most - 1, powers>(count, visit);
}

// How many of the tokens that are left pass next, at most `most`: as many as in the passes after
// it, or a power of two.
template <int most, bool powers>
inline int64_t next_count(int64_t left) {
    if constexpr (powers) {
        static_assert((most & (most - 1)) == 0);
        int64_t count = most;
        while (count > left) count /= 2;
        return count;
    }
    const int64_t passes = (left + most - 1) / most;
    return (left + passes - 1) / passes;
}

// All groups of rows, whose weights stay in the nearest cache while the tokens pass.
template <int most, bool powers, int64_t together, typename Each>
inline void for_rows(const Product& product, int64_t group_bytes, Each each) {
    for (int64_t group = product.first_group; group < product.last_group; group += together) {
        const int64_t left_groups = product.last_group - group;
        const int64_t groups = left_groups < together ? left_groups : together;
        const uint8_t* weights = product.matrix + group * group_bytes;
        for (int64_t token = 0; token < product.tokens;) {
            const int64_t count = next_count<most, powers>(product.tokens - token);
            with_count<most, powers>(count, [&]<int T>() {
                each.template operator()<T>(group, groups, token, weights);
            });
            token += count;
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
