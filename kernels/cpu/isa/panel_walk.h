// How products with many tokens go over columns, rows and tokens, whatever kind of numbers they
// multiply: some groups of rows are unpacked, a panel of columns at a time, and lie in the nearest
// cache while tokens pass them, which come from a farther one.
//
// A Kernel knows the numbers:
//
//     groups         that meet a token together
//     some_tokens    that meet them together
//     Panel          unpacked columns of one group of rows
//     Tile           the same columns of 16 tokens; the tiles of a row lie side by side
//     Tokens         what multiply() reads of a tile that passes; tokens_of(tile) gives it
//     columns        of a panel and of a tile; the last ones may have fewer
//     token_bytes    of one element of a token
//     Weights        their type, for groups.h
//     unpack(group, column, width, panel)
//     prefetch(tile, first)
//                    asks for some tokens of a tile, from `first` on
//     multiply(pass, first, count, y)
//                    adds the products of the groups and some tokens to y, f32 [groups][16 tokens]
//                    [lanes], and calls pass.ahead.ask() on the way; fewer tokens may be left
//     asks           such calls while a tile passes
#pragma once

#include <cstring>

#include "kernels/cpu/isa/groups.h"
#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/results.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Groups that meet a token together. With four tokens these are 12 sums in integers and as many
// floats, of 32 registers of 16 lanes; or 8 and 8, of 16 registers of 8 lanes, some in memory.
inline constexpr int panel_groups = lanes == 16 ? 3 : 2;
// Where two units multiply and a product takes five steps, 16 sums keep them busier, though some
// floats are in memory then.
inline constexpr int most_panel_groups = lanes == 16 ? 4 : 2;
inline constexpr int64_t result_floats = tile_tokens * lanes;  // of a group and 16 tokens

// A pointer of which the compiler knows nothing: results stay behind it, where it would rather give
// them the registers that sums need.
template <typename Value>
[[gnu::always_inline]] inline Value* opaque(Value* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

// Calls visit(group, token) for all groups and `tokens` tokens, unrolled.
template <int groups, int tokens, typename Visit>
[[gnu::always_inline]] inline void each_result(Visit visit) {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; ++t) visit(g, t);
}

// Adds products of `count` words of 4 bytes of every group's rows, the panels of which lie `apart`,
// with those of some tokens, which are 64 bytes from one another.
template <int count, size_t apart, int groups, int tokens, typename Dot>
[[gnu::always_inline]] inline void multiply_words(const uint8_t* rows, const int8_t* x,
                                                  I (&sums)[groups][tokens], Dot dot_words) {
#pragma GCC unroll 16
    for (int j = 0; j < count; ++j) {
        I row[groups];
        for (int g = 0; g < groups; ++g) row[g] = load(rows + g * apart + j * 4 * lanes);
        for (int t = 0; t < tokens; ++t) {
            const I word = splat_quad(x + 64 * t + 4 * j);
            for (int g = 0; g < groups; ++g) sums[g][t] = dot_words(sums[g][t], row[g], word);
        }
    }
}

// Bytes of tokens that pass the panels at a time: the last cache holds them, and gives them as fast
// as they are multiplied.
inline constexpr int64_t passing_bytes = 8 << 20;

template <class Kernel>
inline const Kernel::Tile& tile_at(const Product& product, int64_t tile, int64_t column) {
    const uint8_t* row = product.x + tile * product.x_stride;
    return reinterpret_cast<const Kernel::Tile*>(row)[column / Kernel::columns];
}

// Where results of `most` groups go, from `group` on, or of those that are left. Where rows of all
// exist, nothing is looked up for each; rows lie far apart, so that those of the next groups are
// asked for.
template <int most>
class GroupResults {
  public:
    GroupResults(const Product& product, int64_t group, int64_t groups)
        : product_(product),
          group_(group),
          groups_(groups),
          whole_(groups == most && (group + groups) * lanes <= product.rows),
          past_caches_(passes_caches(product)) {}

    // Those of `tokens` tokens, from the product's `first` on, f32 [groups][16 tokens][lanes].
    void put(int64_t first, int64_t tokens, const float* results) const {
        if (!whole_) {
            for (int64_t g = 0; g < groups_; ++g)
                put_tile(product_, group_ + g, first, tokens, results + g * result_floats, lanes);
            return;
        }
        for (int64_t token = first; token < first + tokens; ++token, results += lanes)
            put_whole(token, results);
    }

  private:
    void put_whole(int64_t token, const float* results) const {
        float* y = ResultRows::of(product_, group_, token).y;
        const float weight = product_.weights ? product_.weights[token] : 0;
        for (int64_t g = 0; g < most; ++g, y += lanes) {
            const F result = load_f32(results + g * result_floats);
            if (past_caches_) {
                store_nontemporal(y, result);
                continue;
            }
            store(y, product_.weights ? fma(result, splat(weight), load_f32(y)) : result);
            prefetch_far(reinterpret_cast<const uint8_t*>(y + most * lanes));
        }
    }

    const Product& product_;
    const int64_t group_, groups_;
    const bool whole_, past_caches_;
};

// Packed panels that memory is asked for while tokens pass those before. A few lines at a time:
// many would keep the tokens waiting that come from nearer caches.
class Ahead {
  public:
    // `count` panels of `bytes`, `stride` from one another, in so many calls of ask().
    Ahead(const uint8_t* panels, int count, int64_t bytes, int64_t stride, int64_t asks)
        : at_(panels),
          end_(panels + bytes),
          bytes_(bytes),
          to_next_(stride - bytes),
          step_((bytes / 64 * count + asks - 1) / asks),
          left_(count) {}

    [[gnu::always_inline]] void ask() {
        if (left_ == 0) return;
        for (int64_t i = 0; i < step_; ++i, at_ += 64) prefetch_near(at_);
        if (at_ < end_) return;
        at_ = end_ + to_next_;
        end_ = at_ + bytes_;
        --left_;
    }

  private:
    const uint8_t *at_, *end_;
    int64_t bytes_, to_next_, step_;  // lines of a call
    int left_;
};

// A tile of tokens that passes some groups.
template <class Kernel>
struct Pass {
    const typename Kernel::Panel (&panels)[Kernel::groups];
    const typename Kernel::Tokens& tokens;
    Ahead& ahead;
    const int64_t width;  // columns
};

// Products of tiles [begin, end) with all groups.
template <class Kernel>
void multiply_some_tiles(const Product& product, int64_t begin, int64_t end) {
    constexpr int most = Kernel::groups;
    constexpr int64_t tile_floats = most * result_floats;
    using Weights = typename Kernel::Weights;
    const int64_t columns = product.columns, group_bytes = group_bytes_of<Weights>(product);
    auto packed = [&](int64_t group) { return product.matrix + group * group_bytes; };
    auto& panels = *reinterpret_cast<typename Kernel::Panel(*)[most]>(product.scratch);
    static_assert(sizeof panels + most_cached_tiles * tile_floats * 4 <= product_scratch);
    float* const y = reinterpret_cast<float*>(product.scratch + sizeof panels);
    for (int64_t group = product.first_group; group < product.last_group; group += most) {
        const int64_t left_groups = product.last_group - group;
        const int64_t groups = left_groups < most ? left_groups : most;
        const int64_t next_group = group + most;
        const uint8_t* following =
            next_group < product.last_group || !product.then ? packed(next_group) : product.then;
        const GroupResults<most> results(product, group, groups);
        for (int64_t g = groups; g < most; ++g) panels[g] = {};
        std::memset(y, 0, size_t((end - begin) * tile_floats * 4));
        for (int64_t column = 0; column < columns; column += Kernel::columns) {
            const int64_t left = columns - column;
            const int64_t width = left < Kernel::columns ? left : Kernel::columns;
            const bool last = left <= Kernel::columns;
            const int64_t after = last ? 0 : column + Kernel::columns;
            for (int64_t g = 0; g < groups; ++g)
                Kernel::unpack(packed(group + g), column, width, panels[g]);
            // What follows may be behind the end, so that its head is not asked where columns are.
            const uint8_t* const from = column_at<Weights>(packed(group), after);
            Ahead ahead(last ? following + (from - packed(group)) : from, most,
                        bytes_of_columns<Weights>(packed(group), Kernel::columns), group_bytes,
                        (end - begin) * Kernel::asks);
            for (int64_t tile = begin; tile < end; ++tile) {
                const int64_t left_tokens = product.tokens - tile * tile_tokens;
                const int64_t tokens = left_tokens < tile_tokens ? left_tokens : tile_tokens;
                float* const of_tile = y + (tile - begin) * tile_floats;
                const auto& next = tile + 1 < end ? tile_at<Kernel>(product, tile + 1, column)
                                                  : tile_at<Kernel>(product, begin, after);
                const auto& passing = Kernel::tokens_of(tile_at<Kernel>(product, tile, column));
                const Pass<Kernel> pass{panels, passing, ahead, width};
                constexpr int some = Kernel::some_tokens;
                for (int first = 0; first < tokens; first += some) {
                    const int64_t count = tokens - first < some ? tokens - first : some;
                    float* const of_tokens = of_tile + first * lanes;
                    Kernel::prefetch(next, first);
                    Kernel::multiply(pass, first, count, of_tokens);
                    // Memory takes results while the next tokens are multiplied.
                    if (last) results.put(tile * tile_tokens + first, count, of_tokens);
                }
            }
        }
    }
}

template <class Kernel>
void multiply_panels(const Product& product) {
    const int64_t tiles = tiles_of(product.tokens);
    const int64_t tile_bytes = tile_tokens * product.columns * Kernel::token_bytes;
    int64_t most = passing_bytes / tile_bytes;
    if (most < 1) most = 1;
    if (most > most_cached_tiles) most = most_cached_tiles;
    for (int64_t begin = 0; begin < tiles; begin += most)
        multiply_some_tiles<Kernel>(product, begin, begin + most < tiles ? begin + most : tiles);
    fence_nontemporal();
}

// Those of a Kernel where there are any, else null; then nothing of the Kernel is compiled.
template <bool any, class Kernel>
constexpr Multiply panels_if() {
    if constexpr (any) return multiply_panels<Kernel>;
    return nullptr;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
