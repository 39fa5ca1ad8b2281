// Products with many tokens by dot products of quads, in tiles of a few groups of rows by a few
// tokens: a token's quad, once in a register, meets a vector of weights of each group, and a vector
// of weights all the tokens. Sums of integers of 16 or 32 columns and what they add up to stay in
// registers, so that nothing is stored while the columns of a panel pass.
//
// Where scales are whole numbers and sums small, one instruction adds a sum's product with its
// scale to an integer; else the sum becomes a float on the way. Without instructions for dot
// products, sums of a few quads stay in the halves of their lanes until then.
#pragma once

#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/panel_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int panel_tokens = 4;  // that meet the groups together

// Of a token's codes, as many as there are scales.
template <class Type>
inline const int16_t* sums_of(const Q8Tile& x, int token) {
    return Type::Scales::per16 ? x.sums16[token] : x.sums32[token];
}

// Adds the sums of some tokens' codes, each times the whole minimum of a row.
template <class Type>
[[gnu::always_inline]] inline void add_mins(const Panel (&panels)[panel_groups], const Q8Tile& x,
                                            int first, I (&to)[panel_groups][panel_tokens]) {
#pragma GCC unroll 8
    for (int n = 0; n < PanelTraits<Type>::sums; n += 2)
        each_result<panel_tokens>([&](int g, int t) {
            const auto* sums = reinterpret_cast<const int8_t*>(sums_of<Type>(x, first + t) + n);
            to[g][t] =
                dot_pairs(to[g][t], load(panels[g].mins + n / 2 * 4 * lanes), splat_quad(sums));
        });
}

// Adds the dot products of some quads to sums; those in halves of lanes times a number of each
// group of rows, factor(g), in both halves.
template <class Type, int quads, typename Factor>
[[gnu::always_inline]] inline void add_dots(const uint8_t* rows, const int8_t* x, Factor factor,
                                            I (&sums)[panel_groups][panel_tokens]) {
    if constexpr (PanelTraits<Type>::in_halves) {
        constexpr int most = quads_in_halves<Type>(), some = most < quads ? most : quads;
#pragma GCC unroll 4
        for (int j = 0; j < quads; j += some) {
            I halves[panel_groups][panel_tokens];
            each_result<panel_tokens>([&](int g, int t) { halves[g][t] = splat(0); });
            multiply_words<some, sizeof(Panel)>(
                rows + j * 4 * lanes, x + 4 * j, halves,
                [](I sum, I row, I quad) { return dot_halves(sum, row, quad); });
            each_result<panel_tokens>(
                [&](int g, int t) { sums[g][t] = dot_pairs(sums[g][t], halves[g][t], factor(g)); });
        }
    } else {
        multiply_words<quads, sizeof(Panel)>(rows, x, sums, [](I sum, I row, I quad) {
            return Type::is_signed ? dot_signed(sum, row, quad) : dot(sum, row, quad);
        });
    }
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
    if constexpr (Type::block == 32) ask(x.exponents32), ask(x.steps32);
    if constexpr (Type::Scales::has_min && !Type::Scales::whole) ask(x.real_sums32);
}

// Adds sums of the n-th block of 32, each times its scales, and minima of rows times the sums of
// tokens to totals.
template <class Type>
[[gnu::always_inline]] inline void add_blocks(const Panel (&panels)[panel_groups], const Q8Tile& x,
                                              int first, int64_t n,
                                              const I (&sums)[panel_groups][panel_tokens],
                                              F (&totals)[panel_groups][panel_tokens]) {
    const uint8_t* scales = opaque(panels[0].scales + n * scale_steps * 4 * lanes);
    const uint8_t* mins = opaque(panels[0].mins + n * 4 * lanes);
    const uint8_t* steps = opaque(x.steps32[first] + n);
    const int32_t* exponents = opaque(x.exponents32[first] + n);
    const float* real_sums = opaque(x.real_sums32[first] + n);
    constexpr int apart = tile_columns / 32;
#pragma GCC unroll 8
    for (int t = 0; t < panel_tokens; ++t) {
        const uint8_t* of_steps = scales + steps[t * apart] * (4 * lanes);
        const I exponent = splat(exponents[t * apart]);
#pragma GCC unroll 8
        for (int g = 0; g < panel_groups; ++g) {
            const F scale = as_float(add(load(of_steps + g * sizeof(Panel)), exponent));
            totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
        }
    }
    if constexpr (Type::Scales::has_min)
        each_result<panel_tokens>([&](int g, int t) {
            totals[g][t] =
                fma(load_f32(mins + g * sizeof(Panel)), splat(real_sums[t * apart]), totals[g][t]);
        });
}

// Adds the products of the panels' columns and some tokens, from `first` on, to y. `offsets`
// [tokens][scales of the panels' columns]: what sums of products begin with.
template <class Type>
inline void multiply_some(const Panel (&panels)[panel_groups], const Q8Tile& x,
                          const int32_t* offsets, Ahead& ahead, int first, int64_t columns,
                          float* y) {
    using T = PanelTraits<Type>;
    using S = typename Type::Scales;
    constexpr bool integers = T::in_16_bits();
    constexpr int quads = 8 / S::count;
    y += first * lanes;
    auto result = [&](int g, int t) { return y + g * results + t * lanes; };
    F totals[panel_groups][panel_tokens];
    I whole[panel_groups][panel_tokens];
    each_result<panel_tokens>([&](int g, int t) {
        totals[g][t] = zero();
        whole[g][t] = splat(0);
    });
    for (int64_t n = 0; n < columns / 32 * S::count; ++n) {
        const int64_t column = n * 4 * quads;
        if (n % S::count == 0) ahead.ask();
        const uint8_t* codes = opaque(panels[0].codes + n * quads * 4 * lanes);
        const int8_t* tokens = opaque(x.codes[column / 64][first] + column % 64);
        if constexpr (S::whole && T::in_halves) {
            add_dots<Type, quads>(
                codes, tokens, [&](int g) { return load(panels[g].scales + n * 4 * lanes); },
                whole);
            continue;
        }
        const int32_t* begins = opaque(offsets + first * T::sums + n);
        I sums[panel_groups][panel_tokens];
        each_result<panel_tokens>(
            [&](int g, int t) { sums[g][t] = splat(T::zero ? begins[t * T::sums] : 0); });
        add_dots<Type, quads>(
            codes, tokens, [](int) { return splat(0x00010001); }, sums);
        if constexpr (Type::block == 32)
            add_blocks<Type>(panels, x, first, n, sums, totals);
        else
            each_result<panel_tokens>([&](int g, int t) {
                const F scale = load_f32(panels[g].scales + n * 4 * lanes);
                if constexpr (integers)
                    whole[g][t] = dot_pairs(whole[g][t], sums[g][t], as_int(scale));
                else
                    totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
            });
    }
    if constexpr (T::zero_as_min) add_mins<Type>(panels, x, first, whole);
    if constexpr (S::whole)
        each_result<panel_tokens>([&](int g, int t) {
            const F sum = integers ? to_float(whole[g][t]) : totals[g][t];
            totals[g][t] = mul(sum, load_f32(panels[g].units));
            whole[g][t] = splat(0);
        });
    if constexpr (S::whole && S::has_min) {
        add_mins<Type>(panels, x, first, whole);
        each_result<panel_tokens>([&](int g, int t) {
            totals[g][t] = fma(to_float(whole[g][t]), load_f32(panels[g].min_units), totals[g][t]);
        });
    }
    each_result<panel_tokens>([&](int g, int t) {
        float* const to = result(g, t);
        store(to, fma(totals[g][t], splat(x.scales[first + t]), load_f32(to)));
    });
}

// The same of all tokens of a tile, while those of the next one are on their way to the nearest
// cache.
template <class Type>
inline void multiply_tile(const Panel (&panels)[panel_groups], const Q8Tile& x, const Q8Tile& next,
                          Ahead& ahead, int64_t columns, int64_t tokens, float* y) {
    using T = PanelTraits<Type>;
    alignas(64) int32_t offsets[tile_tokens * T::sums];
    if constexpr (T::zero != 0 && !T::zero_as_min)
        for (int t = 0; t < tile_tokens; ++t)
            for (int n = 0; n < T::sums; ++n)
                offsets[t * T::sums + n] = -T::zero * sums_of<Type>(x, t)[n];
    for (int first = 0; first < tokens; first += panel_tokens) {
        prefetch_tokens<Type>(next, first);
        multiply_some<Type>(panels, x, offsets, ahead, first, columns, y);
    }
}

// The kernel of a Type for panel_walk.h.
template <class Type>
struct QuadDots {
    using Panel = TANDEM_ISA::Panel;
    using Tile = Q8Tile;
    static constexpr int64_t columns = panel_columns, token_bytes = 1;
    static constexpr int64_t block = Type::block, bytes = Type::bytes;
    static constexpr int64_t asks = tile_tokens / panel_tokens * columns / 32;

    static void unpack(const uint8_t* weights, int64_t width, Panel& panel) {
        unpack_group<Type>(weights, width, panel);
    }
    static void multiply(const Panel (&panels)[panel_groups], const Q8Tile& x, const Q8Tile& next,
                         Ahead& ahead, int64_t width, int64_t tokens, float* y) {
        multiply_tile<Type>(panels, x, next, ahead, width, tokens, y);
    }
};

template <class Type>
inline constexpr auto* multiply_tiles = multiply_panels<QuadDots<Type>>;

}  // namespace tandem::kernels::cpu::TANDEM_ISA
