// linear: for a few tokens a subgroup runs along rows of W, for many a workgroup computes a tile.
#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/linear_chain.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/tile.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct LinearParameters {
    Address count, w, x, y, codebook, other;
    uint32_t rows, columns, row_bytes, per_live;
    Runs weight_rows, token_rows;
};

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "linear") ? linear_chain(ahead).length : 0;
}

// The contracted axes of x as W has them, one after another.
const Form* form(const Operation& operation, size_t input) {
    if (!is(operation, "linear") || input != 0) return nullptr;
    const graph::View &x = operation.inputs[0].view, &w = operation.inputs[1].view;
    bool last = x.axes.size() >= w.columns;
    for (size_t i = 0; last && i < w.columns; ++i)
        last = x.axes[x.axes.size() - w.columns + i] == w.axes[w.axes.size() - w.columns + i];
    check(last, "the contracted axes are an operand's last");
    return lies_together(x, w.columns) ? nullptr : &dense();
}

// Both shaders have the same parameters. What x's rows are multiplied with is all of W, or, where
// the two share axes, those rows of W that have the same place along them.
struct Linear {
    LinearParameters parameters;
    gguf::DType dtype;
    int64_t most_tokens = 0;  // rows of x that meet a row of W
    Live live = Live::No;
    bool shares_axes = false, aligned = false;
    uint32_t kind = 0, matrices = 1;
};

std::vector<Dispatch> by_vectors(const Linear& linear, const Site& site) {
    // Rows that share x read it once; with too many of them too few subgroups are at work.
    uint32_t rows_at_once = linear.shares_axes ? 1 : 4;
    while (rows_at_once > 1 &&
           linear.parameters.rows / rows_at_once < uint32_t(site.features.busy_subgroups))
        rows_at_once /= 2;
    const uint32_t tokens_at_once = uint32_t(std::min<int64_t>(linear.most_tokens, 8));
    const uint32_t group = subgroups(site, 4);
    return {{.shader = typed("linear_vector", linear.dtype),
             .constants = {group, rows_at_once, tokens_at_once, linear.aligned, linear.kind,
                           linear.matrices},
             .parameters = Parameters(linear.parameters),
             .x = {.units = linear.parameters.rows,
                   .per_group = int64_t(rows_at_once) * (group / uint32_t(site.features.subgroup))},
             .y = {.units = linear.parameters.per_live,
                   .per_group = tokens_at_once,
                   .live = linear.live}}};
}

std::vector<Dispatch> by_tiles(const Linear& linear) {
    const Tile tile = tile_of(linear.parameters.rows, linear.most_tokens);
    std::vector<uint32_t> shape = constants(tile, linear.aligned);
    shape.insert(shape.end(), {linear.kind, linear.matrices});
    return {{.shader = typed("linear_tile", linear.dtype),
             .constants = shape,
             .parameters = Parameters(linear.parameters),
             .x = {.units = linear.parameters.per_live,
                   .per_group = tile.tokens(),
                   .live = linear.live},
             .y = {.units = linear.parameters.rows, .per_group = tile.rows()}}};
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const LinearChain chain = linear_chain(launch.operations);
    const Operation& operation = launch.operations[chain.product];
    const Operand& result = launch.operations.back().output;
    const graph::View &w = operation.inputs[1].view, &y = result.view;
    const graph::View x = lies_together(operation.inputs[0].view, w.columns)
                              ? operation.inputs[0].view
                              : dense_view(operation.inputs[0].view);
    const graph::Shape weight_axes(w.axes.begin(), w.axes.end() - int64_t(w.columns));
    Linear linear{.dtype = w.dtype,
                  .live = live(x),
                  .kind = chain.kind,
                  .matrices = chain.length == 3 ? 2u : 1u};
    graph::Shape outer;
    std::vector<int64_t> extents;
    int64_t per_live = 1;
    for (size_t i = 0; i + w.columns < x.axes.size(); ++i) {
        if (contains(weight_axes, x.axes[i])) {
            linear.shares_axes = true;
            continue;
        }
        outer.push_back(x.axes[i]);
        extents.push_back(x.extents[i]);
        if (!x.axes[i]->live()) per_live *= x.extents[i];
    }
    linear.parameters = {
        .count = site.count(x),
        .w = site.address(operation.inputs[1]),
        .x = site.address(operation.inputs[0]),
        .y = site.address(result),
        .codebook = site.codebook(w.dtype),
        .rows = uint32_t(w.rows()),
        .columns = uint32_t(w.row_length()),
        .row_bytes = uint32_t(plane_row_bytes(w.dtype, w.row_length())),
        .per_live = uint32_t(per_live),
        .weight_rows =
            runs_of(weight_axes,
                    {w.extents.begin(), w.extents.begin() + int64_t(weight_axes.size())}, x, y),
        .token_rows = runs_of(outer, extents, x, y)};
    if (chain.length > 1)
        linear.parameters.other =
            site.address(launch.operations[chain.second].inputs[chain.operand]);
    linear.most_tokens = per_live * (outer.empty() || !outer[0]->live() ? 1 : x.extents[0]);
    linear.aligned = linear.parameters.x % 16 == 0 && linear.parameters.columns % 8 == 0;
    for (const Runs& runs : {linear.parameters.weight_rows, linear.parameters.token_rows})
        for (uint32_t stride : runs.from) linear.aligned = linear.aligned && stride % 4 == 0;
    return linear.shares_axes || linear.most_tokens < Tile::least_tokens ? by_vectors(linear, site)
                                                                         : by_tiles(linear);
}

}  // namespace

extern const VulkanKernel linear{.name = "linear", .claim = claim, .bind = bind, .form = form};

}  // namespace tandem::kernels::vulkan::ops
