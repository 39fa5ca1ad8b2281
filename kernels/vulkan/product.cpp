#include "kernels/vulkan/product.h"

#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/linear_chain.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/tile.h"

namespace tandem::kernels::vulkan {

namespace {

Dispatch by_vectors(const Product& product, const Site& site, const char* shader, bool aligned) {
    const uint32_t rows_at_once =
        product.shares_axes ? 1 : rows_of_subgroup(site, product.parameters.rows);
    const uint32_t tokens_at_once = uint32_t(std::min<int64_t>(product.most_tokens, 8));
    const uint32_t group = subgroups(site, 4);
    return {
        .shader = typed(shader, product.dtype),
        .constants = {group, rows_at_once, tokens_at_once, product.kind, product.matrices, aligned},
        .parameters = Parameters(product.parameters),
        .x = {.units = product.parameters.rows,
              .per_group = int64_t(rows_at_once) * (group / uint32_t(site.features.subgroup))},
        .y = {.units = product.parameters.per_live,
              .per_group = tokens_at_once,
              .live = product.live}};
}

// The same with a result in int8 blocks: a workgroup takes the rows of a block.
Dispatch to_blocks(const Product& product, const Site& site) {
    constexpr int64_t most_subgroups = 16;
    Dispatch dispatch = by_vectors(product, site, "linear_vector_dots", false);
    const int64_t wanted =
        std::min(most_subgroups, rows_of_block / rows_of_subgroup(site, product.parameters.rows));
    dispatch.constants[0] = group_for(site, wanted * site.features.subgroup);
    dispatch.constants.push_back(true);
    dispatch.x.per_group = rows_of_block;
    return dispatch;
}

Dispatch by_tiles(const Product& product, const Site& site, const char* shader, bool aligned) {
    const Tile tile = tile_of(site.features, product.parameters.rows, product.most_tokens);
    std::vector<uint32_t> shape = constants(tile, aligned);
    shape.insert(shape.end(), {product.kind, product.matrices});
    return {.shader = typed(shader, product.dtype),
            .constants = shape,
            .parameters = Parameters(product.parameters),
            .x = {.units = product.parameters.per_live,
                  .per_group = tile.tokens(),
                  .live = product.live},
            .y = {.units = product.parameters.rows, .per_group = tile.rows()}};
}

bool has_tiles(const Product& product) {
    return !product.shares_axes && product.most_tokens >= Tile::least_tokens;
}

}  // namespace

OuterAxes outer_axes(const graph::View& x, const graph::View& w) {
    OuterAxes outer;
    const graph::Shape rows = row_axes(w);
    for (size_t i = 0; i + w.columns < x.axes.size(); ++i) {
        if (contains(rows, x.axes[i])) {
            outer.shared = true;
            continue;
        }
        outer.axes.push_back(x.axes[i]);
        outer.extents.push_back(x.extents[i]);
        if (!x.axes[i]->live()) outer.per_live *= x.extents[i];
    }
    return outer;
}

int64_t OuterAxes::most_tokens() const {
    return per_live * (axes.empty() || !axes[0]->live() ? 1 : extents[0]);
}

Product product_of(const Launch& launch, const Site& site, const graph::View& x) {
    const LinearChain chain = linear_chain(launch.operations);
    const Operation& operation = launch.operations[chain.product];
    const Operand& result = launch.operations.back().output;
    const graph::View &w = operation.inputs[1].view, &y = result.view;
    const graph::Shape weight_axes = row_axes(w);
    const OuterAxes outer = outer_axes(x, w);
    Product product{
        .dtype = w.dtype, .live = live(x), .kind = chain.kind, .matrices = chain.matrices};
    product.shares_axes = outer.shared;
    product.parameters = {
        .count = site.count(x),
        .w = site.address(operation.inputs[1]),
        .x = site.address(operation.inputs[0]),
        .y = site.address(result),
        .codebook = site.codebook(w.dtype),
        .rows = uint32_t(w.rows()),
        .columns = uint32_t(w.row_length()),
        .row_bytes = uint32_t(plane_row_bytes(w.dtype, w.row_length())),
        .per_live = uint32_t(outer.per_live),
        .weight_rows =
            runs_of(weight_axes,
                    {w.extents.begin(), w.extents.begin() + int64_t(weight_axes.size())}, x, y),
        .token_rows = runs_of(outer.axes, outer.extents, x, y)};
    if (chain.others[0]) product.parameters.other = site.address(*chain.others[0]);
    if (chain.others[1]) {
        const Address both[] = {product.parameters.other, site.address(*chain.others[1])};
        product.parameters.other = site.keep(std::as_bytes(std::span(both)));
    }
    product.most_tokens = outer.most_tokens();
    product.aligned = product.parameters.x % 16 == 0 && product.parameters.columns % 8 == 0;
    for (const Runs& runs : {product.parameters.weight_rows, product.parameters.token_rows})
        for (uint32_t stride : runs.from) product.aligned = product.aligned && stride % 4 == 0;
    return product;
}

std::vector<Dispatch> in_floats(const Product& product, const Site& site) {
    return {has_tiles(product) ? by_tiles(product, site, "linear_tile", product.aligned)
                               : by_vectors(product, site, "linear_vector", product.aligned)};
}

std::vector<Dispatch> in_dots(const Product& product, const Site& site) {
    if (product.in_blocks) return {to_blocks(product, site)};
    return {has_tiles(product) ? by_tiles(product, site, "linear_tile_dots", false)
                               : by_vectors(product, site, "linear_vector_dots", false)};
}

bool gives_blocks(std::span<const Operation> claimed) {
    const Operation& operation = claimed[linear_chain(claimed).product];
    const graph::View &x = operation.inputs[0].view, &w = operation.inputs[1].view;
    const OuterAxes outer = outer_axes(x, w);
    graph::Shape axes = outer.axes;
    for (graph::Axis axis : row_axes(w)) axes.push_back(axis);
    return !outer.shared && outer.most_tokens() < Tile::least_tokens &&
           w.rows() % rows_of_block == 0 && claimed.back().output.view.axes == axes;
}

bool ends_with_columns(const Operation& linear) {
    const graph::View &x = linear.inputs[0].view, &w = linear.inputs[1].view;
    bool last = x.axes.size() >= w.columns;
    for (size_t i = 0; last && i < w.columns; ++i)
        last = x.axes[x.axes.size() - w.columns + i] == w.axes[w.axes.size() - w.columns + i];
    return last;
}

bool has_dots(gguf::DType dtype) { return !shader_code(typed("linear_tile_dots", dtype)).empty(); }

}  // namespace tandem::kernels::vulkan
