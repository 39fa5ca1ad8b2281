// Products with many tokens on matrix units (AMX-BF16): one instruction multiplies 16 tokens x 32
// elements with 32 elements x 16 rows and adds up in f32. Whatever a type is, its rows are unpacked
// to bf16 once for all tokens; a tile then needs no scales.
//
//     panel      bf16 [columns / 32][16 pairs of elements][16 rows][2]
//     tokens     tiles of place_for_units()
//     sums       2 groups of rows x 2 tiles of tokens at a time, in the units' registers over all
//                of a panel's columns
//
// Where bf16 is too coarse for a weight (F16), the weight and the token both have a second part
// with what rounding took, and three of the four products are added.
#pragma once

#include "kernels/cpu/isa/matrix.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

#if defined(__AMX_BF16__)

// The words of the units. The compiler's own do not tell it which memory they touch.
template <int tile>
inline void tile_load(const void* rows, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
inline void tile_store(void* rows, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
inline void tile_zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}
template <int sums, int tokens, int rows>
inline void tile_dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(tokens), "i"(rows));
}

// The units of one thread: eight tiles of 16 rows of 64 bytes. Given back at the end, so that a
// change of threads need not save them.
class Units {
  public:
    Units() {
        struct alignas(64) Shapes {
            uint8_t palette = 1, start = 0, reserved[14] = {};
            uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        } const shapes;
        asm volatile("ldtilecfg (%0)" ::"r"(&shapes) : "memory");
    }
    ~Units() { asm volatile("tilerelease"); }
    Units(const Units&) = delete;
};

inline constexpr int64_t unit_tile = 1024;  // bytes of a tile of 32 elements
inline constexpr int64_t panel_columns =
    2048;                                    // of two groups they fill an eighth of a second cache
inline constexpr int64_t pass_tokens = 256;  // and of these tokens one half
inline constexpr int64_t panel_bytes = panel_columns / 32 * unit_tile;  // of a group and part

// Two numbers side by side in every lane, rounded to bf16.
[[gnu::always_inline]] inline I pair_bf16(F even, F odd) {
    const I half = splat(0x8000);
    return bit_or(bit_and(add(as_int(odd), half), splat(int32_t(0xffff0000))),
                  shift_right(add(as_int(even), half), 16));
}
// What pair_bf16() lost.
[[gnu::always_inline]] inline I pair_rest(F even, F odd, I pair) {
    return pair_bf16(sub(even, as_float(shift_left(pair, 16))),
                     sub(odd, as_float(bit_and(pair, splat(int32_t(0xffff0000))))));
}

// A panel of columns [first, last) of one group. Byte b of a quad is put into a float's fraction,
// which makes it 256 + code, and one multiplication-addition makes that the weight.
template <class Type>
inline void unpack_codes(const uint8_t* group, int64_t first, int64_t last, uint8_t* panel) {
    constexpr int zero_code = Type::zero + (Type::is_signed ? signed_bias : 0);
    constexpr float base = 256;
    const F offset = splat(-(base + zero_code));
    const I fraction = splat(0xff << 15), base_bits = as_int(splat(base));
    for (int64_t k = first; k < last; k += Type::block) {
        const uint8_t* p = group + k / Type::block * Type::bytes * lanes;
        for (int line = 0; line < Type::bytes * lanes; line += 64) prefetch_line(p + line);
        Type::groups(p, [&](int g, const I(&codes)[8], const auto& s) [[gnu::always_inline]] {
            using S = std::remove_cvref_t<decltype(s)>;
            uint8_t* to = panel + ((k - first) / 32 + g) * unit_tile;
            for (int j = 0; j < 8; ++j) {
                F scale, shift;
                if constexpr (S::per16)
                    scale = s.scale[j / 4];
                else
                    scale = s.scale;
                shift = mul(scale, offset);
                if constexpr (S::has_min && S::per16) shift = add(shift, s.min[j / 4]);
                if constexpr (S::has_min && !S::per16) shift = add(shift, s.min);
                auto weight = [&](I moved) {
                    return fma(as_float(bit_or(bit_and(moved, fraction), base_bits)), scale, shift);
                };
                store(to,
                      pair_bf16(weight(shift_left(codes[j], 15)), weight(shift_left(codes[j], 7))));
                store(to + 64, pair_bf16(weight(shift_right(codes[j], 1)),
                                         weight(shift_right(codes[j], 9))));
                to += 128;
            }
        });
    }
}

// Sums of two tiles of tokens, each [16][2 groups][16 rows] with `stride` bytes between tokens.
struct TileSums {
    float* of[2];
    int64_t stride;
};

// Sets or adds to sums the products of two tiles of tokens with a panel's columns.
template <int parts>
inline void multiply_panel(const uint8_t* panels, const uint8_t* const (&x)[2], int64_t part_bytes,
                           int64_t columns, const TileSums& sums, bool add) {
    auto each_sum = [&](auto visit) [[gnu::always_inline]] {
        visit.template operator()<0>(sums.of[0]);
        visit.template operator()<1>(sums.of[0] + lanes);
        visit.template operator()<2>(sums.of[1]);
        visit.template operator()<3>(sums.of[1] + lanes);
    };
    each_sum([&]<int tile>(const float* from) {
        if (add)
            tile_load<tile>(from, sums.stride);
        else
            tile_zero<tile>();
    });
    auto add_products = [&](int64_t at, int64_t x_part, int64_t w_part) [[gnu::always_inline]] {
        const uint8_t* w = panels + w_part * panel_bytes + at * unit_tile;
        const int64_t token = x_part * part_bytes + at * unit_tile;
        tile_load<4>(x[0] + token, 64);
        tile_load<6>(w, 64);
        tile_dot<0, 4, 6>();
        tile_load<7>(w + parts * panel_bytes, 64);
        tile_dot<1, 4, 7>();
        tile_load<5>(x[1] + token, 64);
        tile_dot<2, 5, 6>();
        tile_dot<3, 5, 7>();
    };
    for (int64_t at = 0; at < (columns + 31) / 32; ++at) {
        add_products(at, 0, 0);
        if constexpr (parts == 2) {
            add_products(at, 1, 0);
            add_products(at, 0, 1);
        }
    }
    each_sum([&]<int tile>(float* to) { tile_store<tile>(to, sums.stride); });
}

// The two tiles of tokens from `tile` on against two groups of rows from `group` on. Sums go
// straight to where the product wants them, if that is a whole block there.
template <int parts>
inline void multiply_pair(const Product& product, int64_t tile, int64_t tiles, int64_t group,
                          int64_t column, int64_t columns, const uint8_t* panels, float* room) {
    const int64_t token = tile * tile_tokens, rest = product.tokens - token;
    const bool whole = rest >= 2 * tile_tokens && group + 2 <= product.last_group &&
                       (group + 2) * lanes <= product.rows && !product.y_rows && !product.weights;
    // A last tile without a second is multiplied twice.
    const int64_t second = tile + 1 < tiles ? 1 : 0;
    const uint8_t* x = product.x + tile * product.x_stride + column / 32 * unit_tile;
    float* y = product.y + token * product.y_stride + group * lanes;
    const TileSums sums =
        whole ? TileSums{{y, y + tile_tokens * product.y_stride}, product.y_stride * 4}
              : TileSums{{room, room + tile_tokens * 2 * lanes}, 2 * lanes * 4};
    multiply_panel<parts>(panels, {x, x + second * product.x_stride},
                          unit_tile_bytes(product.columns, 1), columns, sums, whole && product.add);
    for (int64_t i = 0; !whole && i <= second; ++i) {
        const int64_t left = rest - i * tile_tokens;
        for (int64_t g = 0; g < 2 && group + g < product.last_group; ++g)
            put_tile(product, group + g, token + i * tile_tokens,
                     left < tile_tokens ? left : tile_tokens, sums.of[i] + g * lanes, 2 * lanes);
    }
}

// Some tokens against some columns of all groups.
template <class Type, int parts>
inline void multiply_columns(const Product& product, int64_t first_tile, int64_t last_tile,
                             int64_t column, int64_t columns) {
    const int64_t group_bytes = product.columns / Type::block * Type::bytes * lanes;
    uint8_t* panels = product.scratch;  // [2 groups][parts]
    auto* room = reinterpret_cast<float*>(panels + 2 * parts * panel_bytes);
    for (int64_t group = product.first_group; group < product.last_group; group += 2) {
        for (int64_t g = 0; g < 2 && group + g < product.last_group; ++g) {
            const uint8_t* from = product.matrix + (group + g) * group_bytes;
            uint8_t* panel = panels + g * parts * panel_bytes;
            if constexpr (Type::block == 1)
                Type::unpack(from, column, column + columns, panel, panel + panel_bytes);
            else
                unpack_codes<Type>(from, column, column + columns, panel);
        }
        for (int64_t tile = first_tile; tile < last_tile; tile += 2)
            multiply_pair<parts>(product, tile, last_tile, group, column, columns, panels, room);
    }
}

template <class Type, int parts>
void multiply_units(const Product& product) {
    const Units units;
    constexpr int64_t pass = pass_tokens / tile_tokens;
    const int64_t tiles = tiles_of(product.tokens);
    for (int64_t tile = 0; tile < tiles; tile += pass) {
        const int64_t last_tile = tiles - tile < pass ? tiles : tile + pass;
        Product part = product;
        for (int64_t column = 0; column < product.columns; column += panel_columns) {
            const int64_t left = product.columns - column;
            multiply_columns<Type, parts>(part, tile, last_tile, column,
                                          left < panel_columns ? left : panel_columns);
            part.add = true;
        }
    }
}

#else

template <class Type, int parts>
inline constexpr void (*multiply_units)(const Product&) = nullptr;

#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
