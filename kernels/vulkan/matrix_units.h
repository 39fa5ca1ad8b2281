// Matrix units of an adapter, and the shape of the tiles in which products of many tokens are
// computed on them (shaders/matrix_tile.glsl).
#pragma once

#include "kernels/vulkan/product.h"
#include "kernels/vulkan/raii.h"

namespace tandem::kernels::vulkan {

inline constexpr const char* matrix_units_nv = "nv";  // by VK_NV_cooperative_matrix

// Those that shaders can use, which takes a fixed number of invocations in a subgroup.
MatrixUnits matrix_units_of(const vk::raii::PhysicalDevice& adapter, const Features& features);
// The same shaders without such units.
MatrixUnits plain_matrix_units();

// Rows are multiplied so many columns at a time.
inline constexpr int64_t columns_together = 32;

struct MatrixTile {
    static constexpr uint32_t row_subgroups = 2, token_subgroups = 2;
    static constexpr int subgroups = row_subgroups * token_subgroups;
    // Fewer tokens than these leave too much of a tile empty.
    static constexpr int64_t least_tokens = 33;

    uint32_t row_fragments = 0, token_fragments = 0;  // of a subgroup
    int64_t rows = 0, tokens = 0;                     // of all of them; rows of each matrix
};

// Of so many rows of all matrices and tokens, multiples of 32.
MatrixTile matrix_tile(const MatrixUnits& units, int64_t rows, int64_t tokens, uint32_t matrices);
// The name of a shader for them, perhaps for weights of a type, and its first specialization
// constants.
std::string of_units(std::string_view shader, const MatrixUnits& units);
std::vector<uint32_t> constants(const MatrixTile& tile, const Site& site);

// A linear of so many tokens that units are the best for it, and of rows that they can take.
bool suits_matrix_units(const Operation& linear);
// A product with x in halves, of one or two matrices; what is expanded of these lies in `scratch`.
std::vector<Dispatch> by_matrix_units(const Product& product, const Site& site, Address scratch);
int64_t matrix_units_bytes(const Operation& linear, int64_t matrices);

}  // namespace tandem::kernels::vulkan
