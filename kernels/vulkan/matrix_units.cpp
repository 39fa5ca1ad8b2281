#include "kernels/vulkan/matrix_units.h"

#include <utility>

#include "kernels/vulkan/adapter.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr uint32_t parts_at_once = 4;  // of eight numbers each
static_assert(parts_at_once * 8 == columns_together);

// With all that make_device() asks for where there are matrix units.
bool offers_matrices(const vk::raii::PhysicalDevice& adapter) {
    if (!has_extension(adapter, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME) ||
        !has_extension(adapter, VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME))
        return false;
    using ControlFlow = vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR;
    const auto chain =
        adapter.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features,
                             vk::PhysicalDeviceCooperativeMatrixFeaturesNV, ControlFlow>();
    const auto& features = chain.get<vk::PhysicalDeviceVulkan12Features>();
    return chain.get<vk::PhysicalDeviceCooperativeMatrixFeaturesNV>().cooperativeMatrix &&
           chain.get<ControlFlow>().shaderSubgroupUniformControlFlow &&
           features.vulkanMemoryModel && features.shaderFloat16;
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

// Large tiles read less, small ones keep more of the device busy.
MatrixTile tile_for(int64_t rows, const Product& product, const MatrixUnits& units) {
    constexpr int64_t enough_groups = 256;
    const int64_t tokens = product.most_tokens;
    for (int64_t tile_tokens : {128, 64}) {
        const MatrixTile tile = matrix_tile(units, 128, tile_tokens, product.matrices);
        const int64_t groups = ((rows - 1) / tile.rows + 1) * ((tokens - 1) / tile.tokens + 1);
        if (tokens > tile.tokens / 2 && groups >= enough_groups) return tile;
    }
    return matrix_tile(units, 64, 64, product.matrices);
}

// Rows are in the order of their elements, and there are no gaps between them.
bool lies_in_halves(gguf::DType dtype) { return dtype == gguf::DType::F16; }

int64_t expanded_bytes(int64_t rows, int64_t columns) { return rows * columns * 2; }

// Rows that are expanded before any of them is multiplied: so many that the device is busy without
// a break for long, and so few that they need little memory.
int64_t rows_at_once(int64_t rows, int64_t columns) {
    constexpr int64_t most_bytes = int64_t(128) << 20, multiple = 128;
    return std::min(rows, std::max<int64_t>(1, most_bytes / (columns * 2) / multiple) * multiple);
}

struct ExpandParameters {
    Address w, y, codebook;
    uint32_t rows, first_row, columns, row_bytes;
};

struct HalvesParameters {
    Address count, w, x, y, other;
    uint32_t rows, first_row, columns, per_live;
    Runs weight_rows, token_rows;
};

// `count` rows of a matrix from `first` on to `y`.
Dispatch expand(const Product& product, Address w, Address y, int64_t first, int64_t count) {
    const ProductParameters& whole = product.parameters;
    return {
        .shader = typed("expand", product.dtype),
        .constants = {elements_at_once},
        .parameters = Parameters(ExpandParameters{w, y, whole.codebook, uint32_t(count),
                                                  uint32_t(first), whole.columns, whole.row_bytes}),
        .x = {.units = count * (whole.columns / 8), .per_group = elements_at_once}};
}

// The products of these rows, which lie at `w`, as halves; `other` as in ProductParameters, or the
// same rows of the second matrix.
Dispatch multiply(const Product& product, const Site& site, Address w, Address other, int64_t first,
                  int64_t count) {
    const ProductParameters& whole = product.parameters;
    const MatrixTile tile = tile_for(count, product, site.features.matrix_units);
    std::vector<uint32_t> shape = constants(tile, site);
    shape.insert(shape.end(), {product.kind, product.matrices});
    return {.shader = of_units("linear_halves", site.features.matrix_units),
            .constants = shape,
            .parameters = Parameters(HalvesParameters{
                whole.count, w, whole.x, whole.y, other, uint32_t(count), uint32_t(first),
                whole.columns, whole.per_live, whole.weight_rows, whole.token_rows}),
            .x = {.units = whole.per_live, .per_group = tile.tokens, .live = product.live},
            .y = {.units = count, .per_group = tile.rows}};
}

}  // namespace

std::string text_of(const MatrixUnits& units) {
    if (!units) return {};
    return (units.variant == matrix_units_nv ? "" : units.variant + " ") + "matrix units " +
           std::to_string(units.rows) + "x" + std::to_string(units.tokens) + "x" +
           std::to_string(units.depth);
}

MatrixUnits matrix_units_of(const vk::raii::PhysicalDevice& adapter, const Features& features) {
    if (!offers_matrices(adapter) || !features.steady_subgroups ||
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

std::string of_units(std::string_view shader, const MatrixUnits& units) {
    return std::string(shader) + "." + units.variant;
}

std::vector<uint32_t> constants(const MatrixTile& tile, const Site& site) {
    const MatrixUnits& units = site.features.matrix_units;
    return {vulkan::subgroups(site, MatrixTile::subgroups),
            units.rows,
            units.tokens,
            units.depth,
            tile.row_fragments,
            tile.token_fragments,
            parts_at_once};
}

bool suits_matrix_units(const Operation& linear) {
    const graph::View& w = linear.inputs[1].view;
    OuterAxes outer = outer_axes(linear.inputs[0].view, w);
    // No cut of an axis changes the answer.
    outer.per_live = 1;
    for (const graph::Axis& axis : outer.axes)
        if (!axis->live()) outer.per_live *= axis->extent;
    return !outer.shared && outer.most_tokens() >= MatrixTile::least_tokens &&
           w.row_length() % columns_together == 0;
}

int64_t matrix_units_bytes(const Operation& linear, int64_t matrices) {
    const graph::View& w = linear.inputs[1].view;
    return lies_in_halves(w.dtype)
               ? 0
               : matrices * expanded_bytes(rows_at_once(w.rows(), w.row_length()), w.row_length());
}

std::vector<Dispatch> by_matrix_units(const Product& product, const Site& site, Address scratch) {
    const ProductParameters& whole = product.parameters;
    const bool expands = !lies_in_halves(product.dtype);
    const int64_t rows = expands ? rows_at_once(whole.rows, whole.columns) : whole.rows;
    const Address second = scratch + Address(expanded_bytes(rows, whole.columns));
    std::vector<Dispatch> all;
    for (int64_t first = 0; first < whole.rows; first += rows) {
        const int64_t count = std::min(rows, whole.rows - first);
        Address w = whole.w, other = whole.other;
        if (expands) {
            all.push_back(expand(product, std::exchange(w, scratch), scratch, first, count));
            if (product.matrices > 1) {
                all.push_back(expand(product, std::exchange(other, second), second, first, count));
                all.back().after_previous = false;
            }
        }
        all.push_back(multiply(product, site, w, other, first, count));
    }
    return all;
}

}  // namespace tandem::kernels::vulkan
