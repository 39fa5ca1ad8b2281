// Products with many tokens by dot products of quads, in tiles of two groups of rows by a few
// tokens: a token's quad, once in a register, meets two vectors of weights, and a vector of weights
// all the tokens. Sums of integers stay in registers, results in the nearest cache.
#pragma once

#include "kernels/cpu/isa/panel.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int panel_groups = 2;

template <class Kind, int T>
inline void multiply_some(const Panel (&w)[panel_groups], int zero_code, const TokenTile& x,
                          int first, int64_t columns, float* const (&y)[panel_groups]) {
    constexpr bool wide = Kind::block == 256;
    constexpr int quads = 8 / Kind::halves;
    alignas(64) float part[panel_groups][T * lanes];
    auto clear = [](float* row) {
        for (int t = 0; t < T; ++t) store(row + t * lanes, zero());
    };
    for (float* group : y) clear(group + first * lanes);
    for (int64_t b = 0; b < columns / Kind::block; ++b) {
        const float* token_scales = x.scales + b * tile_tokens + first;
        if constexpr (wide)
            for (float* group : part) clear(group);
        for (int64_t n = b * (Kind::block / 32) * Kind::halves;
             n < (b + 1) * (Kind::block / 32) * Kind::halves; ++n) {
            const int64_t quad = n * quads;  // the first of the row
            const uint8_t* codes =
                x.codes + quad / 8 * 32 * tile_tokens + 32 * first + 4 * (quad % 8);
            const int32_t* token_sums = x.sums + n * tile_tokens + first;
            I sums[panel_groups][T];
#pragma GCC unroll 8
            for (int t = 0; t < T; ++t) sums[0][t] = sums[1][t] = splat(-zero_code * token_sums[t]);
#pragma GCC unroll 8
            for (int j = 0; j < quads; ++j) {
                const I rows[panel_groups] = {load(w[0].codes + (quad + j) * 4 * lanes),
                                              load(w[1].codes + (quad + j) * 4 * lanes)};
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    const I a = splat_quad(reinterpret_cast<const int8_t*>(codes) + 32 * t + 4 * j);
                    for (int g = 0; g < panel_groups; ++g)
                        sums[g][t] = Kind::is_signed ? dot_signed(sums[g][t], rows[g], a)
                                                     : dot(sums[g][t], rows[g], a);
                }
            }
            for (int g = 0; g < panel_groups; ++g) {
                const F scale = load_f32(w[g].scales + n * lanes);
                float* totals = wide ? part[g] : y[g] + first * lanes;
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    F total = load_f32(totals + t * lanes);
                    total = fma(to_float(sums[g][t]),
                                wide ? scale : mul(scale, splat(token_scales[t])), total);
                    if constexpr (Kind::has_min)
                        total = fma(load_f32(w[g].mins + n * lanes),
                                    splat(x.real_sums[n * tile_tokens + first + t]), total);
                    store(totals + t * lanes, total);
                }
            }
        }
        if constexpr (wide)
            for (int g = 0; g < panel_groups; ++g)
                for (int t = 0; t < T; ++t) {
                    float* total = y[g] + (first + t) * lanes;
                    store(total, fma(load_f32(part[g] + t * lanes), splat(token_scales[t]),
                                     load_f32(total)));
                }
    }
}

// Tokens whose tiles fit into a middle cache beside the panels.
inline constexpr int64_t cached_bytes = 1 << 20;

template <class Type>
void multiply_tiles(const Product& product) {
    using Kind = KindOf<Type>;
    constexpr int zero_code = Type::zero + (Type::is_signed ? signed_bias : 0);
    constexpr int64_t results = tile_tokens * lanes;
    constexpr int T = lanes == 16 ? 8 : 4;
    const int64_t columns = product.columns;
    const int64_t group_bytes = columns / Type::block * Type::bytes * lanes;
    uint8_t* room = product.scratch;
    float* const y[panel_groups] = {reinterpret_cast<float*>(room),
                                    reinterpret_cast<float*>(room) + results};
    room += panel_groups * 4 * results;
    const Panel panels[panel_groups] = {Panel(room, columns),
                                        Panel(room + Panel::bytes(columns), columns)};
    const int64_t tiles = tiles_of(product.tokens);
    const int64_t cached = cached_bytes / (tile_tokens * columns);
    const int64_t tile_block = cached > 1 ? cached : 1;
    for (int64_t begin = 0; begin < tiles; begin += tile_block) {
        const int64_t end = begin + tile_block < tiles ? begin + tile_block : tiles;
        for (int64_t group = product.first_group; group < product.last_group;
             group += panel_groups) {
            const int64_t groups = product.last_group - group < panel_groups
                                       ? product.last_group - group
                                       : panel_groups;
            for (int64_t g = 0; g < groups; ++g)
                unpack_group<Type>(product.matrix + (group + g) * group_bytes, columns, panels[g]);
            for (int64_t tile = begin; tile < end; ++tile) {
                const int64_t token = tile * tile_tokens, left = product.tokens - token;
                const int64_t tokens = left < tile_tokens ? left : tile_tokens;
                const auto x = TokenTile::of<Kind>(product.x + tile * product.x_stride, columns);
                for (int first = 0; first < tokens; first += T)
                    multiply_some<Kind, T>(panels, zero_code, x, first, columns, y);
                for (int64_t g = 0; g < groups; ++g)
                    put_tile(product, group + g, token, tokens, y[g], lanes);
            }
        }
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
