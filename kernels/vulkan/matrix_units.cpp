#include "kernels/vulkan/matrix_units.h"

#include "kernels/vulkan/adapter.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr uint32_t parts_at_once = 4;  // of eight numbers each

bool offers_matrices(const vk::raii::PhysicalDevice& adapter) {
    if (!has_extension(adapter, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)) return false;
    const auto chain =
        adapter.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features,
                             vk::PhysicalDeviceCooperativeMatrixFeaturesNV>();
    const auto& features = chain.get<vk::PhysicalDeviceVulkan12Features>();
    return chain.get<vk::PhysicalDeviceCooperativeMatrixFeaturesNV>().cooperativeMatrix &&
           features.vulkanMemoryModel && features.shaderFloat16;
}

// True where the driver chooses how many invocations the subgroups of a pipeline have.
bool varies_subgroups(const vk::raii::PhysicalDevice& adapter) {
    if (adapter.getProperties().apiVersion < VK_API_VERSION_1_3 &&
        !has_extension(adapter, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
        return false;
    const auto sizes = adapter
                           .getProperties2<vk::PhysicalDeviceProperties2,
                                           vk::PhysicalDeviceSubgroupSizeControlProperties>()
                           .get<vk::PhysicalDeviceSubgroupSizeControlProperties>();
    return sizes.minSubgroupSize != sizes.maxSubgroupSize;
}

// Tiles of them fit into shared memory, and steps through rows take whole parts.
bool suits(const vk::CooperativeMatrixPropertiesNV& offered) {
    using Type = vk::ComponentTypeNV;
    constexpr uint32_t most = 16;
    return offered.AType == Type::eFloat16 && offered.BType == Type::eFloat16 &&
           offered.CType == Type::eFloat32 && offered.DType == Type::eFloat32 &&
           offered.scope == vk::ScopeNV::eSubgroup && offered.MSize <= most &&
           offered.NSize <= most && offered.KSize % 8 == 0 &&
           parts_at_once * 8 % offered.KSize == 0;
}

// Large tiles decode and read less, small ones keep more of the device busy.
MatrixTile tile_for(const Product& product, const MatrixUnits& units) {
    constexpr int64_t enough_groups = 256;
    const int64_t rows = product.parameters.rows, tokens = product.most_tokens;
    for (int64_t tile_tokens : {128, 64}) {
        const MatrixTile tile = matrix_tile(units, 128, tile_tokens, product.matrices);
        const int64_t groups = ((rows - 1) / tile.rows + 1) * ((tokens - 1) / tile.tokens + 1);
        if (tokens > tile.tokens / 2 && groups >= enough_groups) return tile;
    }
    return matrix_tile(units, 64, 64, product.matrices);
}

}  // namespace

std::string text_of(const MatrixUnits& units) {
    if (!units) return {};
    return (units.variant == matrix_units_nv ? "" : units.variant + " ") + "matrix units " +
           std::to_string(units.rows) + "x" + std::to_string(units.tokens) + "x" +
           std::to_string(units.depth);
}

MatrixUnits matrix_units_of(const vk::raii::PhysicalDevice& adapter, const Features& features) {
    if (!offers_matrices(adapter) || varies_subgroups(adapter) ||
        MatrixTile::subgroups * features.subgroup > features.most_invocations)
        return {};
    MatrixUnits best;
    for (const auto& offered : adapter.getCooperativeMatrixPropertiesNV())
        if (suits(offered) &&
            offered.MSize * offered.NSize * offered.KSize > best.rows * best.tokens * best.depth)
            best = {matrix_units_nv, offered.MSize, offered.NSize, offered.KSize};
    return best;
}

MatrixUnits plain_matrix_units() {
    return {.variant = "plain", .rows = 16, .tokens = 16, .depth = 16};
}

MatrixTile matrix_tile(const MatrixUnits& units, int64_t rows, int64_t tokens, uint32_t matrices) {
    auto fragments = [](int64_t length, uint32_t subgroups, uint32_t size) {
        return std::max(uint32_t(1), uint32_t(length) / subgroups / size);
    };
    MatrixTile tile{
        .row_fragments = fragments(rows, MatrixTile::row_subgroups, units.rows),
        .token_fragments = fragments(tokens, MatrixTile::token_subgroups, units.tokens)};
    tile.rows = tile.row_fragments * MatrixTile::row_subgroups * units.rows / matrices;
    tile.tokens = tile.token_fragments * MatrixTile::token_subgroups * units.tokens;
    return tile;
}

std::string of_units(std::string_view shader, gguf::DType dtype, const MatrixUnits& units) {
    return typed(shader, dtype) + "." + units.variant;
}

std::vector<uint32_t> constants(const MatrixTile& tile, const Site& site, bool aligned) {
    const MatrixUnits& units = site.features.matrix_units;
    return {vulkan::subgroups(site, MatrixTile::subgroups),
            units.rows,
            units.tokens,
            units.depth,
            tile.row_fragments,
            tile.token_fragments,
            parts_at_once,
            aligned};
}

bool suits_matrix_units(const Product& product, const Features& features) {
    return features.matrix_units && !product.shares_axes &&
           product.most_tokens >= MatrixTile::least_tokens;
}

Dispatch by_matrix_units(const Product& product, const Site& site) {
    const MatrixUnits& units = site.features.matrix_units;
    const MatrixTile tile = tile_for(product, units);
    std::vector<uint32_t> shape = constants(tile, site, product.aligned);
    shape.insert(shape.end(), {product.kind, product.matrices});
    return {
        .shader = of_units("linear_matrices", product.dtype, units),
        .constants = shape,
        .parameters = Parameters(product.parameters),
        .x = {.units = product.parameters.per_live, .per_group = tile.tokens, .live = product.live},
        .y = {.units = product.parameters.rows, .per_group = tile.rows}};
}

}  // namespace tandem::kernels::vulkan
