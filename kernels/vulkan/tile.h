// The shape of the tiles in which products of many tokens are computed (shaders/tile.glsl).
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

struct Tile {
    static constexpr uint32_t invocations = 128, row_lanes = 16, token_lanes = 8;
    // Fewer tokens than these are cheaper one product of a row and a token at a time.
    static constexpr int64_t least_tokens = 9;

    uint32_t rows_each = 4, tokens_each = 8;  // of an invocation

    int64_t rows() const { return rows_each * row_lanes; }
    int64_t tokens() const { return tokens_each * token_lanes; }
    int64_t groups(int64_t all_rows, int64_t all_tokens) const {
        return ((all_rows - 1) / rows() + 1) * ((all_tokens - 1) / tokens() + 1);
    }
};

// The smallest tile that has room for so many tokens, or the largest.
inline Tile tile_of(int64_t tokens) {
    Tile tile{.tokens_each = 2};
    while (tile.tokens() < tokens && tile.tokens_each < 8) tile.tokens_each *= 2;
    return tile;
}

// For products of so many rows and tokens: large tiles read less, small ones keep more of the
// device busy.
inline Tile tile_of(const Features& features, int64_t rows, int64_t tokens) {
    const int64_t enough_groups = std::min(256, features.busy_subgroups / 8);
    Tile tile = tile_of(tokens);
    while (tile.groups(rows, tokens) < enough_groups && tile.tokens_each > 2) tile.tokens_each /= 2;
    return tile;
}

// Specialization constants of the shaders.
inline std::vector<uint32_t> constants(const Tile& tile, bool aligned) {
    // What a shader notes of its tokens takes some of the shared memory, too.
    const int64_t rows = tile.rows() + tile.tokens(), room = shared_bytes - 1024;
    uint32_t parts_at_once = 4;
    while (rows * (2 * parts_at_once + 1) * 16 > room) parts_at_once /= 2;
    return {Tile::invocations, tile.rows_each, tile.tokens_each, parts_at_once, aligned};
}

}  // namespace tandem::kernels::vulkan
