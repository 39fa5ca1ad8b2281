// The shape of the tiles in which products of many tokens are computed (shaders/tile.glsl).
#pragma once

#include <vector>

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

struct Tile {
    static constexpr uint32_t invocations = 128, row_lanes = 16, token_lanes = 8;
    // Fewer tokens than these are cheaper one product of a row and a token at a time.
    static constexpr int64_t least_tokens = 9;

    uint32_t rows_each = 4, tokens_each = 8;  // of an invocation
    uint32_t parts_at_once = 4;

    int64_t rows() const { return rows_each * row_lanes; }
    int64_t tokens() const { return tokens_each * token_lanes; }
    int64_t shared_bytes() const { return (rows() + tokens()) * (2 * parts_at_once + 1) * 16; }
    // Specialization constants of the shader.
    std::vector<uint32_t> constants(bool aligned) const {
        return {invocations, rows_each, tokens_each, parts_at_once, aligned};
    }
};

// For products of so many rows and tokens: large tiles read less, small ones keep more of the
// device busy and leave less of a tile empty.
inline Tile tile_for(int64_t rows, int64_t tokens) {
    constexpr int64_t enough_groups = 256;
    Tile tile;
    auto groups = [&] {
        return ((rows - 1) / tile.rows() + 1) * ((tokens - 1) / tile.tokens() + 1);
    };
    while (tile.tokens_each > 2 && (tile.tokens() >= 2 * tokens || groups() < enough_groups))
        tile.tokens_each /= 2;
    // Some room is left for what a shader notes of its tokens.
    while (tile.shared_bytes() + 1024 > vulkan::shared_bytes) tile.parts_at_once /= 2;
    return tile;
}

}  // namespace tandem::kernels::vulkan
