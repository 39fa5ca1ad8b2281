// linear for a few tokens: one product of a row and a token per subgroup.
#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct VectorParameters {
    Address count, w, x, y, codebook;
    uint32_t rows, columns, row_bytes, per_live;
    Runs weight_rows, token_rows;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "linear") ? 1 : 0; }

// The contracted axes of x as W has them, one after another.
const Form* form(const Operation& operation, size_t input) {
    if (input != 0) return nullptr;
    const graph::View &x = operation.inputs[0].view, &w = operation.inputs[1].view;
    bool last = x.axes.size() >= w.columns;
    for (size_t i = 0; last && i < w.columns; ++i)
        last = x.axes[x.axes.size() - w.columns + i] == w.axes[w.axes.size() - w.columns + i];
    check(last, "the contracted axes are an operand's last");
    return lies_together(x, w.columns) ? nullptr : &dense();
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View &w = operation.inputs[1].view, &y = operation.output.view;
    const graph::View x = lies_together(operation.inputs[0].view, w.columns)
                              ? operation.inputs[0].view
                              : dense_view(operation.inputs[0].view);
    const size_t row_axes = w.axes.size() - w.columns;
    const auto split = int64_t(row_axes);
    graph::Shape outer;
    std::vector<int64_t> extents;
    int64_t per_live = 1;
    for (size_t i = 0; i + w.columns < x.axes.size(); ++i) {
        if (contains({w.axes.begin(), w.axes.begin() + split}, x.axes[i])) continue;
        outer.push_back(x.axes[i]);
        extents.push_back(x.extents[i]);
        if (!x.axes[i]->live()) per_live *= x.extents[i];
    }
    VectorParameters parameters{
        .count = site.count(x),
        .w = site.address(operation.inputs[1]),
        .x = site.address(operation.inputs[0]),
        .y = site.address(operation.output),
        .codebook = site.codebook(w.dtype),
        .rows = uint32_t(w.rows()),
        .columns = uint32_t(w.row_length()),
        .row_bytes = uint32_t(plane_row_bytes(w.dtype, w.row_length())),
        .per_live = uint32_t(per_live),
        .weight_rows = runs_of({w.axes.begin(), w.axes.begin() + split},
                               {w.extents.begin(), w.extents.begin() + split}, x, y),
        .token_rows = runs_of(outer, extents, x, y)};
    const int64_t most_tokens = per_live * (outer.empty() || !outer[0]->live() ? 1 : x.extents[0]);
    const uint32_t rows_at_once = 2, tokens_at_once = uint32_t(std::min<int64_t>(most_tokens, 8));
    bool aligned = parameters.x % 16 == 0 && parameters.columns % 8 == 0;
    for (const Runs& runs : {parameters.weight_rows, parameters.token_rows})
        for (uint32_t stride : runs.from) aligned = aligned && stride % 4 == 0;
    const uint32_t group = subgroups(site, 4);
    return {{.shader = typed("linear_vector", w.dtype),
             .constants = {group, rows_at_once, tokens_at_once, aligned},
             .parameters = Parameters(parameters),
             .x = {.units = w.rows(),
                   .per_group = int64_t(rows_at_once) * (group / uint32_t(site.features.subgroup))},
             .y = {.units = per_live, .per_group = tokens_at_once, .live = live(x)}}};
}

}  // namespace

extern const VulkanKernel linear_vector{
    .name = "linear.vector", .claim = claim, .bind = bind, .form = form};

}  // namespace tandem::kernels::vulkan::ops
