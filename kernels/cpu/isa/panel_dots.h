// Products with many tokens by dot products of quads, in tiles of a few groups of rows by a few
// tokens: a token's quad, once in a register, meets a vector of weights of each group, and a vector
// of weights all the tokens. Sums of integers of 16 or 32 columns and what they add up to stay in
// registers, so that nothing is stored while the columns of a panel pass.
//
// Where scales are whole numbers, one instruction adds a sum's product with its scale to an
// integer; else the sum becomes a float on the way.
#pragma once

#include "kernels/cpu/isa/panel.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int panel_tokens = 4;                   // of a tile
inline constexpr int64_t results = tile_tokens * lanes;  // of a group and 16 tokens
inline constexpr int64_t most_results = panel_groups * results;

// A pointer of which the compiler knows nothing: results stay behind it, where it would rather give
// them the registers that sums of integers need.
template <typename Value>
[[gnu::always_inline]] inline Value* opaque(Value* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

// Sums of products of a panel's quads [first, first + count) with some tokens.
template <class Type, int count>
[[gnu::always_inline]] inline void multiply_quads(const Panel (&panels)[panel_groups],
                                                  int64_t first, const int8_t* tokens,
                                                  I (&sums)[panel_groups][panel_tokens]) {
    const uint8_t* codes = opaque(panels[0].codes + first * 4 * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < count; ++j) {
        I rows[panel_groups];
        for (int g = 0; g < panel_groups; ++g)
            rows[g] = load(codes + g * sizeof(Panel) + j * 4 * lanes);
        for (int t = 0; t < panel_tokens; ++t) {
            const I quad = splat_quad(tokens + 64 * t + 4 * j);
            for (int g = 0; g < panel_groups; ++g)
                sums[g][t] = Type::is_signed ? dot_signed(sums[g][t], rows[g], quad)
                                             : dot(sums[g][t], rows[g], quad);
        }
    }
}

// Calls visit(group, token) for all of a tile, unrolled.
template <typename Visit>
[[gnu::always_inline]] inline void each_result(Visit visit) {
#pragma GCC unroll 8
    for (int g = 0; g < panel_groups; ++g)
#pragma GCC unroll 8
        for (int t = 0; t < panel_tokens; ++t) visit(g, t);
}

// Of a token's codes, as many as there are scales.
template <class Type>
inline const int16_t* sums_of(const Q8Tile& x, int token) {
    return Type::Scales::per16 ? x.sums16[token] : x.sums32[token];
}

// Adds the sums of some tokens' codes, each times the number of a row that lies in `pairs`, there
// in the first of the panels.
template <class Type>
[[gnu::always_inline]] inline void add_sums(const uint8_t* pairs, const Q8Tile& x, int first,
                                            I (&to)[panel_groups][panel_tokens]) {
#pragma GCC unroll 8
    for (int n = 0; n < PanelTraits<Type>::sums; n += 2)
        each_result([&](int g, int t) {
            const auto* sums = reinterpret_cast<const int8_t*>(sums_of<Type>(x, first + t) + n);
            to[g][t] = dot_pairs(to[g][t], load(pairs + g * sizeof(Panel) + n / 2 * 4 * lanes),
                                 splat_quad(sums));
        });
}

// Asks for what products read of some tokens, from `first` on.
template <class Type>
[[gnu::always_inline]] inline void prefetch_tokens(const Q8Tile& x, int first) {
    auto ask = [&](const auto& of_tokens) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(of_tokens[first]);
        for (size_t line = 0; line < panel_tokens * sizeof of_tokens[0]; line += 64)
            prefetch_near(bytes + line);
    };
    for (const auto& codes : x.codes) ask(codes);
    if constexpr (Type::Scales::per16)
        ask(x.sums16);
    else
        ask(x.sums32);
    if constexpr (Type::block == 32) ask(x.scales32);
    if constexpr (Type::Scales::has_min && !Type::Scales::whole) ask(x.real_sums32);
}

// Adds the products of the panels' columns and some tokens, from `first` on, to y. `offsets`
// [tokens][scales of the panels' columns]: what sums of products begin with.
template <class Type>
inline void multiply_some(const Panel (&panels)[panel_groups], const Q8Tile& x,
                          const int32_t* offsets, int first, int64_t columns, float* y) {
    using T = PanelTraits<Type>;
    using S = typename Type::Scales;
    constexpr bool wide = Type::block == 256;
    constexpr int quads = 8 / S::count;
    y += first * lanes;
    auto result = [&](int g, int t) { return y + g * results + t * lanes; };
    F totals[panel_groups][panel_tokens];
    I whole[panel_groups][panel_tokens];
    each_result([&](int g, int t) {
        totals[g][t] = wide ? zero() : load_f32(result(g, t));
        whole[g][t] = splat(0);
    });
    for (int64_t n = 0; n < columns / 32 * S::count; ++n) {
        const int64_t column = n * 4 * quads;
        const int32_t* begins = opaque(offsets + first * T::sums + n);
        const float* token_scales = opaque(x.scales32[first] + n);
        const float* real_sums = opaque(x.real_sums32[first] + n);
        constexpr int apart = tile_columns / 32;  // of these
        I sums[panel_groups][panel_tokens];
        each_result([&](int g, int t) { sums[g][t] = splat(T::zero() ? begins[t * T::sums] : 0); });
        multiply_quads<Type, quads>(panels, n * quads,
                                    opaque(x.codes[column / 64][first] + column % 64), sums);
        const Panel* panel = opaque(panels);
#pragma GCC unroll 8
        for (int g = 0; g < panel_groups; ++g) {
            const F scale = load_f32(panel[g].scales + n * 4 * lanes);
#pragma GCC unroll 8
            for (int t = 0; t < panel_tokens; ++t) {
                F& total = totals[g][t];
                if constexpr (S::whole)
                    whole[g][t] = dot_pairs(whole[g][t], sums[g][t], as_int(scale));
                else if constexpr (wide)
                    total = fma(to_float(sums[g][t]), scale, total);
                else
                    total = fma(to_float(sums[g][t]), mul(scale, splat(token_scales[t * apart])),
                                total);
                if constexpr (S::has_min && !S::whole)
                    total = fma(load_f32(panel[g].mins + n * 4 * lanes),
                                splat(real_sums[t * apart]), total);
            }
        }
    }
    if constexpr (T::taken != 0) add_sums<Type>(panels[0].taken, x, first, whole);
    if constexpr (S::whole)
        each_result([&](int g, int t) {
            totals[g][t] = mul(to_float(whole[g][t]), load_f32(panels[g].units));
            whole[g][t] = splat(0);
        });
    if constexpr (S::whole && S::has_min) {
        add_sums<Type>(panels[0].mins, x, first, whole);
        each_result([&](int g, int t) {
            totals[g][t] = fma(to_float(whole[g][t]), load_f32(panels[g].min_units), totals[g][t]);
        });
    }
    each_result([&](int g, int t) {
        F& total = totals[g][t];
        if constexpr (wide) total = fma(total, splat(x.scales[first + t]), load_f32(result(g, t)));
        store(result(g, t), total);
    });
}

// The same of all tokens of a tile, while those of the next one are on their way to the nearest
// cache.
template <class Type>
inline void multiply_tile(const Panel (&panels)[panel_groups], const Q8Tile& x, const Q8Tile& next,
                          int64_t columns, int64_t tokens, float* y) {
    using T = PanelTraits<Type>;
    alignas(64) int32_t offsets[tile_tokens * T::sums];
    if constexpr (T::zero() != 0)
        for (int t = 0; t < tile_tokens; ++t)
            for (int n = 0; n < T::sums; ++n)
                offsets[t * T::sums + n] = -T::zero() * sums_of<Type>(x, t)[n];
    for (int first = 0; first < tokens; first += panel_tokens) {
        prefetch_tokens<Type>(next, first);
        multiply_some<Type>(panels, x, offsets, first, columns, y);
    }
}

// Columns that all groups meet before the next are read, and how many tiles' codes of so many fit
// into a middle cache beside their results.
inline constexpr int64_t chunk_columns = 16 * panel_columns, cached_bytes = 1 << 20;
static_assert(sizeof(Panel) * panel_groups + most_cached_tiles * most_results * 4 <=
              product_scratch);

// Calls visit(group, token, its results in y) for some groups and all tokens of some tiles.
template <typename Visit>
inline void each_row(const Product& product, int64_t groups, int64_t begin, int64_t end, float* y,
                     Visit visit) {
    const int64_t last = product.tokens < end * tile_tokens ? product.tokens : end * tile_tokens;
    for (int64_t token = begin * tile_tokens; token < last; ++token) {
        float* tile = y + (token / tile_tokens - begin) * most_results;
        for (int64_t g = 0; g < groups; ++g)
            visit(g, token, tile + g * results + token % tile_tokens * lanes);
    }
}

inline const Q8Tile& tile_at(const Product& product, int64_t tile, int64_t column) {
    const uint8_t* row = product.x + tile * product.x_stride;
    return reinterpret_cast<const Q8Tile*>(row)[column / tile_columns];
}

// Results that no middle cache holds until they are read go past them: lines that are written whole
// need not be fetched.
inline constexpr int64_t nontemporal_bytes = 2 << 20;
inline bool passes_caches(const Product& product) {
    return lanes * sizeof(float) == 64 && !product.weights &&
           product.tokens * product.rows * 4 >= nontemporal_bytes;
}
inline void put_past_caches(const Product& product, int64_t group, int64_t token, F result) {
    const ResultRows rows = ResultRows::of(product, group, token);
    if (rows.count == lanes && reinterpret_cast<uintptr_t>(rows.y) % 64 == 0)
        store_nontemporal(rows.y, result);
    else
        put<1>(product, group, token, {result});
}

// Asks for one of the parts of some bytes.
inline void prefetch_part(const uint8_t* bytes, int64_t count, int64_t part, int64_t parts) {
    const int64_t lines = count / 64, last = lines * (part + 1) / parts;
    for (int64_t line = lines * part / parts; line < last; ++line) prefetch_far(bytes + 64 * line);
}

// Rows of results lie far apart: those of the next groups are asked for, too.
inline void prefetch_results(const Product& product, int64_t group, int64_t token) {
    const ResultRows rows = ResultRows::of(product, group, token);
    if (rows.count > 0) prefetch_far(reinterpret_cast<const uint8_t*>(rows.y));
}

// Products of some tiles with all groups, of `width` columns from `column` on.
template <class Type>
void multiply_chunk(const Product& product, int64_t column, int64_t width, int64_t begin,
                    int64_t end) {
    const int64_t columns = product.columns;
    const int64_t block_bytes = Type::bytes * lanes,
                  group_bytes = columns / Type::block * block_bytes;
    auto packed = [&](int64_t group, int64_t first) {
        return product.matrix + group * group_bytes + first / Type::block * block_bytes;
    };
    auto& panels = *reinterpret_cast<Panel(*)[panel_groups]>(product.scratch);
    float* const y = reinterpret_cast<float*>(product.scratch + sizeof panels);
    const bool past_caches = width == columns && passes_caches(product);
    for (int64_t group = product.first_group; group < product.last_group; group += panel_groups) {
        const int64_t left_groups = product.last_group - group;
        const int64_t groups = left_groups < panel_groups ? left_groups : panel_groups;
        for (int64_t g = groups; g < panel_groups; ++g) panels[g] = {};
        std::memset(y, 0, size_t((end - begin) * most_results * 4));
        if (column > 0 && !product.weights)  // goes on where the columns before ended
            each_row(product, groups, begin, end, y, [&](int64_t g, int64_t token, float* to) {
                store(to, ResultRows::of(product, group + g, token).load());
            });
        for (int64_t done = 0; done < width; done += panel_columns) {
            const int64_t left = width - done, first = column + done;
            const int64_t panel_width = left < panel_columns ? left : panel_columns;
            const int64_t after = left > panel_columns ? first + panel_columns : column;
            for (int64_t g = 0; g < groups; ++g)
                unpack_group<Type>(packed(group + g, first), panel_width, panels[g]);
            for (int64_t tile = begin; tile < end; ++tile) {
                const int64_t tokens = product.tokens - tile * tile_tokens;
                float* const tile_results = y + (tile - begin) * most_results;
                const Q8Tile& next = tile + 1 < end ? tile_at(product, tile + 1, first)
                                                    : tile_at(product, begin, after);
                for (int64_t g = 0; g < panel_groups; ++g)
                    prefetch_part(packed((after > first ? group : group + panel_groups) + g, after),
                                  panel_columns / Type::block * block_bytes, tile - begin,
                                  end - begin);
                multiply_tile<Type>(panels, tile_at(product, tile, first), next, panel_width,
                                    tokens < tile_tokens ? tokens : tile_tokens, tile_results);
                if (left <= panel_columns)
                    each_row(product, groups, tile, tile + 1, tile_results,
                             [&](int64_t g, int64_t token, float* from) {
                                 if (past_caches)
                                     return put_past_caches(product, group + g, token,
                                                            load_f32(from));
                                 put<1>(product, group + g, token, {load_f32(from)});
                                 prefetch_results(product, group + panel_groups + g, token);
                             });
            }
        }
    }
}

// All of the columns where the tokens fit into the cache, so that weights are read in one stream;
// else a chunk of them.
template <class Type>
void multiply_tiles(const Product& product) {
    const int64_t columns = product.columns, tiles = tiles_of(product.tokens);
    const bool fits = tiles * tile_tokens * columns <= cached_bytes;
    const int64_t most_width = fits || columns < chunk_columns ? columns : chunk_columns;
    int64_t most_tiles = cached_bytes / (tile_tokens * most_width);
    if (most_tiles > most_cached_tiles) most_tiles = most_cached_tiles;
    for (int64_t begin = 0; begin < tiles; begin += most_tiles) {
        const int64_t end = begin + most_tiles < tiles ? begin + most_tiles : tiles;
        for (int64_t column = 0; column < columns; column += most_width) {
            const int64_t left = columns - column;
            multiply_chunk<Type>(product, column, left < most_width ? left : most_width, begin,
                                 end);
        }
    }
    fence_nontemporal();
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
