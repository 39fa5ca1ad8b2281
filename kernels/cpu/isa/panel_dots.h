// Products with many tokens by dot products of quads, in tiles of a few groups of rows by a few
// tokens: a token's quad, once in a register, meets a vector of weights of each group, and a vector
// of weights all the tokens. Sums of integers of 16 or 32 columns and what they add up to stay in
// registers, so that nothing is stored while the columns of a panel pass.
//
// The scalar version is that of row_dots.h, but that totals begin anew with each 256 columns, of
// which a token has one scale:
//
//     for (row r, token t, panel c) {
//         float total = 0;
//         for (part p of c) total = fma(sum(r, t, p), scale(r, t, p), total);
//         y = fma(total, x.scale(t, c), y);
//     }
//
// In blocks of 256, scale(r, t, p) is the row's. In smaller ones it is the row's times one of eight
// steps, rounded when a panel is unpacked, and a power of two of the token.
//
// There are three ways to keep sums until they meet their scales:
//
//     multiply_in_lanes     32 bits in each lane. Where scales are whole numbers and a sum has 16
//                           bits, dot_pairs() adds their product to an integer; else the sum
//                           becomes a float
//     multiply_in_pairs     two sums of 16 bits in each lane, for one dot_pairs()
//     multiply_in_halves    where there are no dot products of bytes: those of a few quads in the
//                           halves of lanes
//
// In smaller blocks than 256 no integer is converted. Sums begin with the bits of a float whose
// last place is worth the token's power of two, the block's origin (Q8Tile): what the float has
// grown by is the sum times that power.
#pragma once

#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/panel_walk.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

template <class Type>
struct QuadDots;

// Of all groups and T tokens.
template <class Type, int T>
using Sums = I[groups_of<Type>][T];
template <class Type, int T>
using Totals = F[groups_of<Type>][T];

template <class Type>
using QuadPass = Pass<QuadDots<Type>>;

// A tile, and what sums of its tokens begin with, if anything: [scales of a row's 256 columns], or
// [columns / 16] where sums are kept in halves of lanes.
template <class Type>
struct QuadTokens {
    using P = PanelTraits<Type>;
    static constexpr int sums =  // of a token
        P::begins_in_halves ? int(panel_columns) / 16 : P::parts;

    const Q8Tile& x;
    alignas(64) PanelOffset<Type> offsets[tile_tokens][sums];

    QuadTokens(const Q8Tile& tile) : x(tile) {
        if constexpr (P::has_offsets)
            for (int t = 0; t < tile_tokens; ++t)
                for (int n = 0; n < sums; ++n) offsets[t][n] = PanelOffset<Type>(offset(t, n));
    }

    // The sums of a token's codes, one for each scale of a row.
    const int16_t* sums_of(int token) const {
        return Type::Scales::per16 ? x.sums16[token] : x.sums32[token];
    }

  private:
    int32_t offset(int token, int n) const {
        const int16_t* of_token = P::begins_in_halves ? x.sums16[token] : sums_of(token);
        int32_t result = -P::zero * of_token[n];
        if constexpr (P::crossed) result += x.crossed32[token][n] + middle_code<Type> * of_token[n];
        if constexpr (!is_wide<Type> && !P::begins_in_halves)
            result += x.origins32[token][n / Type::Scales::count];
        return result;
    }
};

// Adds the sums of some tokens' codes, each times the whole minimum of a row.
template <class Type, int T>
[[gnu::always_inline]] inline void add_mins(QuadPass<Type> pass, int first, Sums<Type, T>& to) {
#pragma GCC unroll 8
    for (int n = 0; n < PanelTraits<Type>::parts; n += 2)
        each_result<groups_of<Type>, T>([&](int g, int t) {
            const auto* sums = reinterpret_cast<const int8_t*>(pass.tokens.sums_of(first + t) + n);
            to[g][t] = dot_pairs(to[g][t], load(pass.panels[g].mins + n / 2 * 4 * lanes),
                                 splat_quad(sums));
        });
}

// Adds the dot products of some quads to sums.
template <class Type, int quads, int T>
[[gnu::always_inline]] inline void add_dots(const uint8_t* rows, const int8_t* x,
                                            Sums<Type, T>& sums) {
    multiply_words<quads, sizeof(Panel)>(rows, x, sums, [](I sum, I row, I quad) {
        return in_order(Type::is_signed ? dot_signed(sum, row, quad) : dot(sum, row, quad));
    });
}

// Calls visit(halves) for sums of the products of 32 columns, as many quads at a time as 16 bits
// have room for. `begins`: pairs of what the first sums of a token begin with.
template <class Type, int T, int first = 0, typename Visit>
[[gnu::always_inline]] inline void visit_halves(const uint8_t* rows, const int8_t* x,
                                                const PanelOffset<Type>* begins, Visit visit) {
    constexpr int left = 8 - first, most = panel_quads<Type>(), count = most < left ? most : left;
    constexpr bool begin = PanelTraits<Type>::begins_in_halves;
    static_assert(!begin || most == 8);
    Sums<Type, T> halves;
    each_result<groups_of<Type>, T>([&](int g, int t) {
        const PanelOffset<Type>* pair = begins + t * (panel_columns / 16);
        halves[g][t] = begin ? splat_quad(reinterpret_cast<const int8_t*>(pair)) : splat(0);
    });
    multiply_words<count, sizeof(Panel)>(
        rows + first * 4 * lanes, x + 4 * first, halves, [](I sum, I row, I quad) {
            return in_order(Type::is_signed ? dot_halves_signed(sum, row, quad)
                                            : dot_halves(sum, row, quad));
        });
    visit(halves);
    if constexpr (first + count < 8) visit_halves<Type, T, first + count>(rows, x, begins, visit);
}

// For blocks of 32 of a token. Adds to totals the sums of part n, 32 columns or 16, each times the
// scales of its row and its token, and minima of rows times the sums of tokens. Sums of whole lanes
// have begun at the block's origin; those in halves of lanes are added to it here.
template <class Type, int T>
[[gnu::always_inline]] inline void add_blocks(QuadPass<Type> pass, int first, int64_t n,
                                              const Sums<Type, T>& sums, Totals<Type, T>& totals) {
    static_assert(!(Type::Scales::per16 && Type::Scales::has_min));
    using P = PanelTraits<Type>;
    const auto& panels = pass.panels;
    const Q8Tile& x = pass.tokens.x;
    const int64_t block = n / Type::Scales::count;
    const uint8_t* scales = opaque(panels[0].scales + n * scale_steps * 4 * lanes);
    const uint8_t* mins = opaque(panels[0].mins + n * 4 * lanes);
    const uint8_t* steps = opaque(x.steps32[first] + block);
    const int32_t* origins = opaque(x.origins32[first] + block);
    const PanelOffset<Type>* offsets = opaque(pass.tokens.offsets[first] + n);
    const float* real_sums = opaque(x.real_sums32[first] + block);
    constexpr int apart = tile_columns / 32;
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) {
        const uint8_t* of_steps = scales + size_t(steps[t * apart]) * (4 * lanes);
        const I origin = splat(origins[t * apart]);
        const I offset =
            P::zero == 0 || P::begins_in_halves ? origin : splat(offsets[t * P::parts]);
#pragma GCC unroll 8
        for (int g = 0; g < groups_of<Type>; ++g) {
            const I from_origin = P::in_halves ? add(sums[g][t], offset) : sums[g][t];
            totals[g][t] = fma(sub(as_float(from_origin), as_float(origin)),
                               load_f32(of_steps + g * sizeof(Panel)), totals[g][t]);
        }
    }
    if constexpr (Type::Scales::has_min)
        each_result<groups_of<Type>, T>([&](int g, int t) {
            totals[g][t] =
                fma(load_f32(mins + g * sizeof(Panel)), splat(real_sums[t * apart]), totals[g][t]);
        });
}

// Adds the products of the panels' columns and some tokens, from `first` on, by sums in halves of
// lanes, to `whole` or `totals`.
template <class Type, int T>
[[gnu::always_inline]] inline void multiply_in_halves(QuadPass<Type> pass, int first,
                                                      Sums<Type, T>& whole,
                                                      Totals<Type, T>& totals) {
    using S = typename Type::Scales;
    const auto& panels = pass.panels;
    for (int64_t n = 0; n < pass.width / 32; ++n) {
        pass.ahead.ask();
        const uint8_t* codes = opaque(panels[0].codes + n * 32 * lanes);
        const int8_t* tokens = opaque(pass.tokens.x.codes[n / 2][first] + n % 2 * 32);
        const PanelOffset<Type>* begins = opaque(pass.tokens.offsets[first] + 2 * n);
        Sums<Type, T> sums[S::count];
        if constexpr (!S::whole)
            for (auto& of_scale : sums)
                each_result<groups_of<Type>, T>([&](int g, int t) { of_scale[g][t] = splat(0); });
        visit_halves<Type, T>(codes, tokens, begins, [&](const auto& halves) {
            if constexpr (S::whole)
                each_result<groups_of<Type>, T>([&](int g, int t) {
                    whole[g][t] = in_order(dot_pairs(whole[g][t], halves[g][t],
                                                     load(panels[g].scales + n * 4 * lanes)));
                });
            else
                for (int h = 0; h < S::count; ++h)
                    each_result<groups_of<Type>, T>([&](int g, int t) {
                        const I ones = splat(S::count == 1 ? 0x10001 : h == 0 ? 1 : 0x10000);
                        sums[h][g][t] = dot_pairs(sums[h][g][t], halves[g][t], ones);
                    });
        });
        if constexpr (!is_wide<Type>)
            for (int h = 0; h < S::count; ++h)
                add_blocks<Type>(pass, first, S::count * n + h, sums[h], totals);
        else if constexpr (!S::whole)
            for (int h = 0; h < S::count; ++h)
                each_result<groups_of<Type>, T>([&](int g, int t) {
                    const F scale = load_f32(panels[g].scales + (S::count * n + h) * 4 * lanes);
                    totals[g][t] = fma(to_float(sums[h][g][t]), scale, totals[g][t]);
                });
    }
}

// What a sum of whole lanes begins with, if anything.
template <class Type>
[[gnu::always_inline]] inline I first_sum(const int32_t* offset) {
    return PanelTraits<Type>::has_offsets ? splat_at(offset) : zeros();
}

// The same by sums of whole lanes.
template <class Type, int T>
[[gnu::always_inline]] inline void multiply_in_lanes(QuadPass<Type> pass, int first,
                                                     Sums<Type, T>& whole,
                                                     Totals<Type, T>& totals) {
    using P = PanelTraits<Type>;
    using S = typename Type::Scales;
    constexpr int quads = 8 / S::count;
    const auto& panels = pass.panels;
    for (int64_t n = 0; n < pass.width / 32 * S::count; ++n) {
        const int64_t column = n * 4 * quads;
        if (n % S::count == 0) pass.ahead.ask();
        const uint8_t* codes = opaque(panels[0].codes + n * quads * 4 * lanes);
        const int8_t* tokens = opaque(pass.tokens.x.codes[column / 64][first] + column % 64);
        const int32_t* begins = opaque(pass.tokens.offsets[first] + n);
        Sums<Type, T> sums;
        if constexpr (P::crossed) {
            const uint8_t* of_rows = opaque(panels[0].begins + n * 4 * lanes);
            each_result<groups_of<Type>, T>([&](int g, int t) {
                sums[g][t] = add(load(of_rows + g * sizeof(Panel)), splat(begins[t * P::parts]));
            });
            multiply_crossed<quads, sizeof(Panel)>(codes, tokens, sums, add_bytes, dot);
        } else {
            // Loaded once: rows and tokens keep the units that load as busy as those that multiply.
            each_result<groups_of<Type>, T>([&](int g, int t) {
                sums[g][t] =
                    P::has_offsets && g > 0 ? sums[0][t] : first_sum<Type>(begins + t * P::parts);
            });
            add_dots<Type, quads>(codes, tokens, sums);
        }
        if constexpr (!is_wide<Type>)
            add_blocks<Type>(pass, first, n, sums, totals);
        else
            each_result<groups_of<Type>, T>([&](int g, int t) {
                const F scale = load_f32(panels[g].scales + n * 4 * lanes);
                if constexpr (P::in_16_bits())
                    whole[g][t] = dot_pairs(whole[g][t], sums[g][t], as_int(scale));
                else
                    totals[g][t] = fma(to_float(sums[g][t]), scale, totals[g][t]);
            });
    }
}

// The same where one product of pairs multiplies two such sums of 16 bits by their scales. That of
// part n + 1 is added up first and moved to the upper half; that of part n is added up below it,
// from 2^15 on, so that it takes nothing from the half above. Flipping that bit takes 2^15 off.
template <class Type, int T>
[[gnu::always_inline]] inline void multiply_in_pairs(QuadPass<Type> pass, int first,
                                                     Sums<Type, T>& whole) {
    using P = PanelTraits<Type>;
    constexpr int quads = 8 / Type::Scales::count, middle = 1 << 15;
    const auto& panels = pass.panels;
    for (int64_t n = 0; n < pass.width / 4 / quads; n += 2) {
        const int64_t column = n * 4 * quads;
        pass.ahead.ask();
        if (Type::Scales::count == 1) pass.ahead.ask();
        const uint8_t* codes = opaque(panels[0].codes + n * quads * 4 * lanes);
        const int8_t* tokens = opaque(pass.tokens.x.codes[column / 64][first] + column % 64);
        const int32_t* begins = opaque(pass.tokens.offsets[first] + n);
        auto begin = [&](int t) { return P::zero ? begins[t * P::parts] : 0; };
        Sums<Type, T> sums;
        each_result<groups_of<Type>, T>(
            [&](int g, int t) { sums[g][t] = first_sum<Type>(begins + t * P::parts + 1); });
        add_dots<Type, quads>(codes + quads * 4 * lanes, tokens + 4 * quads, sums);
        each_result<groups_of<Type>, T>([&](int g, int t) {
            sums[g][t] = add(shift_left(sums[g][t], 16), splat(begin(t) + middle));
        });
        add_dots<Type, quads>(codes, tokens, sums);
        const uint8_t* scales = opaque(panels[0].scales + n / 2 * 4 * lanes);
        each_result<groups_of<Type>, T>([&](int g, int t) {
            whole[g][t] = dot_pairs(whole[g][t], bit_xor(sums[g][t], splat(middle)),
                                    load(scales + g * sizeof(Panel)));
        });
    }
}

// Adds the products of the panels' columns and some tokens, from `first` on, to y.
template <class Type, int T>
inline void multiply_some(QuadPass<Type> pass, int first, float* y) {
    using P = PanelTraits<Type>;
    using S = typename Type::Scales;
    constexpr bool integers = P::in_16_bits();
    const auto& panels = pass.panels;
    Totals<Type, T> totals;
    Sums<Type, T> whole;
    each_result<groups_of<Type>, T>([&](int g, int t) {
        totals[g][t] = zero();
        whole[g][t] = splat(0);
    });
    if constexpr (P::in_halves)
        multiply_in_halves<Type>(pass, first, whole, totals);
    else if constexpr (P::in_pairs)
        multiply_in_pairs<Type>(pass, first, whole);
    else
        multiply_in_lanes<Type>(pass, first, whole, totals);
    if constexpr (S::whole)
        each_result<groups_of<Type>, T>([&](int g, int t) {
            const F sum = integers ? to_float(whole[g][t]) : totals[g][t];
            totals[g][t] = mul(sum, load_f32(panels[g].units));
            whole[g][t] = splat(0);
        });
    if constexpr (S::whole && S::has_min) {
        add_mins<Type>(pass, first, whole);
        each_result<groups_of<Type>, T>([&](int g, int t) {
            totals[g][t] = fma(to_float(whole[g][t]), load_f32(panels[g].min_units), totals[g][t]);
        });
    }
    each_result<groups_of<Type>, T>([&](int g, int t) {
        float* const to = y + g * result_floats + t * lanes;
        store(to, fma(totals[g][t], splat(pass.tokens.x.scales[first + t]), load_f32(to)));
    });
}

// The kernel of a Type for panel_walk.h.
template <class Type>
struct QuadDots {
    using Panel = TANDEM_ISA::Panel;
    using Tile = Q8Tile;
    using Tokens = QuadTokens<Type>;
    static Tokens tokens_of(const Tile& tile) { return Tokens(tile); }
    using Weights = Type;
    // panel_walk.h counts the registers.
    static constexpr int groups = groups_of<Type>, some_tokens = 4;
    static constexpr int64_t columns = panel_columns, token_bytes = 1;
    static constexpr int64_t asks = tile_tokens / some_tokens * columns / 32;

    static void unpack(const uint8_t* group, int64_t column, int64_t width, Panel& panel) {
        unpack_group<Type>(column_at<Type>(group, column), width, panel);
    }

    [[gnu::always_inline]] static void prefetch(const Tile& tile, int first) {
        auto ask = [&](const auto& of_tokens) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(of_tokens[first]);
            for (size_t line = 0; line < some_tokens * sizeof of_tokens[0]; line += 64)
                prefetch_near(bytes + line);
        };
        for (const auto& codes : tile.codes) ask(codes);
        if constexpr (PanelTraits<Type>::sums_of_16)
            ask(tile.sums16);
        else
            ask(tile.sums32);
        if constexpr (PanelTraits<Type>::crossed) ask(tile.crossed32);
        if constexpr (!is_wide<Type>) ask(tile.origins32), ask(tile.steps32);
        if constexpr (Type::Scales::has_min && !Type::Scales::whole) ask(tile.real_sums32);
    }

    static void multiply(QuadPass<Type> pass, int first, int64_t count, float* y) {
        if (count > some_tokens / 2)
            multiply_some<Type, some_tokens>(pass, first, y);
        else
            multiply_some<Type, some_tokens / 2>(pass, first, y);
    }
};

template <class Type>
inline constexpr Multiply adding_tiles = panels_if<crosses, QuadDots<Adding<Type>>>();

}  // namespace tandem::kernels::cpu::TANDEM_ISA
