// Products with many tokens on matrix units (AMX-BF16): one instruction multiplies 16 tokens x 32
// elements with 32 elements x 16 rows and adds up in f32. Whatever a type is, its rows become bf16
// on the way; a tile then needs no scales.
//
//     for (row r, token t) {
//         float sum = 0;
//         for (column k) sum += bf16(weight(r, k)) * x(t, k);      // rounded as the units do it
//         y = sum;
//     }
//
// A weight made of a code is fma(base + code, scale, min - (base + zero) * scale), cut off to bf16:
// scale and minimum are larger by what that takes on average.
//
//     weights    a step of 32 columns of one group: bf16 [16 pairs of elements][16 rows][2]
//     tokens     tiles of place_bf16(), up to four at a time
//     sums       a tile for each tile of tokens, in the units' registers over all steps
//
// The units multiply a step while the vector unit unpacks the next.
//
// Where bf16 is too coarse for a weight (F16), the weight and the token both have a second part
// with what the first lacks, and three of the four products are added; two where all weights of a
// group are numbers of bf16.
#pragma once

#include <utility>

#include "kernels/cpu/isa/fields.h"
#include "kernels/cpu/isa/groups.h"
#include "kernels/cpu/isa/results.h"
#include "kernels/cpu/isa/tile_words.h"
#include "kernels/cpu/isa/weight_type.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

#if defined(__AMX_BF16__)

// The units of one thread. Given back at the end, so that a change of threads need not save them.
class Units {
  public:
    Units() { tiles_begin(); }
    ~Units() { tiles_end(); }
    Units(const Units&) = delete;
};

inline constexpr int64_t unit_tile = 1024;  // bytes of a tile of 32 elements
inline constexpr int most_tiles = most_unit_tokens / tile_tokens;
static_assert(4 * unit_tile + most_unit_groups * most_unit_tokens * lanes * 4 <= product_scratch);
// What stays in a second cache beside each other: the tokens' columns, and the weights that more
// tokens will pass.
inline constexpr int64_t cached_columns = 4096, cached_weights = 1 << 20;
// Results below this stay in caches: the second ones of such processors are large.
inline constexpr int64_t unit_nontemporal_bytes = 4 << 20;

// Two numbers side by side in every lane, cut off to bf16: half the steps of rounding.
[[gnu::always_inline]] inline I pair_cut(F even, F odd) {
    return upper_halves(as_int(even), as_int(odd));
}
// What a number must be scaled by so that cutting it off is right on average: a cut takes half of
// the last place of 1.m, which is 2^-8 / 1.m of the number, where 1 / 1.m is 0.72 on average.
inline constexpr float before_cut = 1 + 0.72f / 256;

// 32 columns of one group. A byte of a quad is put into the fraction of a float, which makes it
// base + code, and one multiplication-addition makes that the weight. Codes without a bias have
// less than 8 bits and take the upper byte of the fraction. Scales have 15 bits: their products
// with what codes of zero become have 24 at most, so that weights of zero are exact.
template <class Type, typename Codes>
[[gnu::always_inline]] inline void unpack_step(const Codes& codes, const typename Type::Scales& s,
                                               uint8_t* to) {
    using S = typename Type::Scales;
    constexpr int zero_code = Type::zero + (Type::is_signed ? signed_bias : 0);
    constexpr int byte = Type::is_signed ? 1 : 2, quads = 8 / S::count;
    constexpr float base_value = Type::is_signed ? 32768 : 128;
    const I base = as_int(splat(base_value));
#pragma GCC unroll 2
    for (int h = 0; h < S::count; ++h) {
        const F scale = as_float(
            bit_and(as_int(mul(s.scale(h), splat(before_cut))), splat(int32_t(0xfffffe00))));
        F shift = mul(scale, splat(-(base_value + zero_code)));
        if constexpr (S::has_min) shift = fma(s.min(h), splat(before_cut), shift);
#pragma GCC unroll 8
        for (int j = h * quads; j < (h + 1) * quads; ++j) {
            const I quad = codes(j);
            auto weight = [&]<int b>() {
                return fma(as_float(put_byte<b, byte>(base, quad)), scale, shift);
            };
            store(to + 128 * j,
                  pair_cut(weight.template operator()<0>(), weight.template operator()<1>()));
            store(to + 128 * j + 64,
                  pair_cut(weight.template operator()<2>(), weight.template operator()<3>()));
        }
    }
}

// Calls visit(step, write) for each 32 of columns [first, last) of a group; write(to) unpacks them.
template <class Type, typename Visit>
[[gnu::always_inline]] inline void each_step(const uint8_t* group, int64_t first, int64_t last,
                                             Visit visit) {
    if constexpr (Type::block == 1) {
        for (int64_t k = first; k < last; k += 32)
            visit(k / 32, [&](uint8_t* to) [[gnu::always_inline]] {
                Type::unpack(group, k, last - k < 32 ? last - k : 32, to, to + unit_tile);
            });
    } else {
        for (int64_t k = first; k < last; k += Type::block) {
            const uint8_t* p = column_at<Type>(group, k);
            const Type packed{p};
            each_run<Type, true>([&](int run) [[gnu::always_inline]] {
                const uint8_t* part = p + run * run_bytes<Type>;
                prefetch_part<Type, tile_tokens>(part + near_ahead, part + far_ahead);
                visit(k / 32 + run, [&](uint8_t* to) [[gnu::always_inline]] {
                    unpack_step<Type>(packed.codes(run), packed.scales(run), to);
                });
            });
        }
    }
}

// Whether weights of a group have a second part.
template <class Type>
inline bool has_rest(const uint8_t* group) {
    if constexpr (requires { Type::has_rest(group); }) return Type::has_rest(group);
    return false;
}

// visit<0>() to visit<count - 1>(): the words of the units have the numbers of registers in them.
template <typename Visit, int... i>
[[gnu::always_inline]] inline void each_of(std::integer_sequence<int, i...>, Visit visit) {
    (visit.template operator()<i>(), ...);
}
template <int count, typename Visit>
[[gnu::always_inline]] inline void each_of(Visit visit) {
    each_of(std::make_integer_sequence<int, count>{}, visit);
}

// Some tiles of tokens, [tiles][parts][columns / 32][16 tokens][32].
template <int tiles, int parts>
struct UnitTokens {
    const uint8_t* first = nullptr;
    int64_t tile_bytes = 0, part_bytes = 0;

    const uint8_t* at(int tile, int part, int64_t step) const {
        return first + tile * tile_bytes + part * part_bytes + step * unit_tile;
    }
    // Adds the products with a step of weights to sums 0 to tiles - 1. `has_rest`: weights have a
    // second part.
    [[gnu::always_inline]] void add_products(const uint8_t* weights, int64_t step,
                                             bool has_rest) const {
        tile_load<7>(weights);
        each_of<tiles>([&]<int t>() {
            tile_load<4 + t % 2>(at(t, 0, step));
            tile_dot<t, 4 + t % 2, 7>();
        });
        if constexpr (parts == 2) {
            if (has_rest) tile_load<6>(weights + unit_tile);
            each_of<tiles>([&]<int t>() {
                if (has_rest) {
                    tile_load<4>(at(t, 0, step));
                    tile_dot<t, 4, 6>();
                }
                tile_load<5>(at(t, 1, step));
                tile_dot<t, 5, 7>();
            });
        }
    }
};

// The sums of a group to where the product wants them: straight, if that is a whole block there
// that some cache may hold. `room` has 64 bytes for each token.
template <int tiles>
inline void put_sums(const Product& product, int64_t group, int64_t token, float* room) {
    constexpr int64_t tokens = tiles * tile_tokens;
    const int64_t rest = product.tokens - token;
    const bool whole = rest >= tokens && (group + 1) * lanes <= product.rows && !product.y_rows &&
                       !product.weights;
    const bool past_caches = whole && passes_caches(product, unit_nontemporal_bytes);
    float* const y = product.y + token * product.y_stride + group * lanes;
    float* const to = whole && !past_caches ? y : room;
    const int64_t stride = to == y ? product.y_stride : lanes;
    each_of<tiles>([&]<int t>() { tile_store<t>(to + t * tile_tokens * stride, stride * 4); });
    if (past_caches)
        for (int64_t t = 0; t < tokens; ++t)
            store_nontemporal(y + t * product.y_stride, load_f32(room + t * lanes));
    else if (!whole)
        put_tile(product, group, token, rest < tokens ? rest : tokens, room, lanes);
}

// Tiles of tokens from `tile` on against groups [first_group, last_group), piece by piece of the
// columns: sums of all groups wait in memory for the next piece.
template <class Type, int parts, int tiles>
inline void multiply_by_pieces(const Product& product, int64_t tile, int64_t first_group,
                               int64_t last_group) {
    constexpr int64_t piece = cached_columns / parts, step_bytes = parts * unit_tile;
    const int64_t group_bytes = group_bytes_of<Type>(product);
    const UnitTokens<tiles, parts> tokens{.first = product.x + tile * product.x_stride,
                                          .tile_bytes = product.x_stride,
                                          .part_bytes = bf16_tile_bytes(product.columns, 1)};
    uint8_t* const steps = product.scratch;  // two
    auto* const sums = reinterpret_cast<float*>(steps + 2 * step_bytes);
    for (int64_t column = 0; column < product.columns; column += piece) {
        const bool is_last = product.columns - column <= piece;
        const int64_t end = is_last ? product.columns : column + piece;
        for (int64_t group = first_group; group < last_group; ++group) {
            float* sum = sums + (group - first_group) * tiles * tile_tokens * lanes;
            each_of<tiles>([&]<int t>() {
                if (column == 0)
                    tile_zero<t>();
                else
                    tile_load<t>(sum + t * tile_tokens * lanes);
            });
            auto at = [&](int64_t step) { return steps + step % 2 * step_bytes; };
            const uint8_t* const weights = product.matrix + group * group_bytes;
            const bool rest = has_rest<Type>(weights);
            each_step<Type>(weights, column, end,
                            [&](int64_t step, auto write) [[gnu::always_inline]] {
                                write(at(step));
                                if (32 * step > column)
                                    tokens.add_products(at(step - 1), step - 1, rest);
                            });
            const int64_t last = (end - 1) / 32;
            tokens.add_products(at(last), last, rest);
            if (is_last)
                put_sums<tiles>(product, group, tile * tile_tokens, sum);
            else
                each_of<tiles>(
                    [&]<int t>() { tile_store<t>(sum + t * tile_tokens * lanes, lanes * 4); });
        }
    }
}

template <class Type, int parts>
void multiply_units(const Product& product) {
    const Units units;
    const int64_t tiles = tiles_of(product.tokens);
    const int64_t group_bytes = group_bytes_of<Type>(product);
    int64_t block = most_unit_groups;  // that some tokens pass before the next do
    if (tiles > most_tiles && block * group_bytes > cached_weights)
        block = cached_weights / group_bytes > 1 ? cached_weights / group_bytes : 1;
    for (int64_t group = product.first_group; group < product.last_group; group += block) {
        const int64_t last =
            group + block < product.last_group ? group + block : product.last_group;
        int64_t tile = 0;
        auto some = [&]<int count>() {
            multiply_by_pieces<Type, parts, count>(product, tile, group, last);
            tile += count;
        };
        while (tiles - tile >= most_tiles) some.template operator()<most_tiles>();
        if (tiles - tile == 3) some.template operator()<3>();
        if (tiles - tile == 2) some.template operator()<2>();
        if (tiles - tile == 1) some.template operator()<1>();
    }
    fence_nontemporal();
}

#else

template <class Type, int parts>
inline constexpr Multiply multiply_units = nullptr;

#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
