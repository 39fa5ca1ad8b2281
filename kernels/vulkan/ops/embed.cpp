// embed: rows of a table, decoded.
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct EmbedParameters {
    Address count, table, ids, y, codebook;
    uint32_t first, rows, columns, row_bytes, stride;
};

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "embed") ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View &table = operation.inputs[0].view, &y = operation.output.view;
    const int64_t columns = table.row_length();
    const EmbedParameters parameters{.count = site.count(y),
                                     .table = site.address(operation.inputs[0]),
                                     .ids = site.address(operation.inputs[1]),
                                     .y = site.address(operation.output),
                                     .codebook = site.codebook(table.dtype),
                                     .first = uint32_t(table.begins[0]),
                                     .rows = uint32_t(table.extents[0]),
                                     .columns = uint32_t(columns),
                                     .row_bytes = uint32_t(plane_row_bytes(table.dtype, columns)),
                                     .stride = uint32_t(y.strides[0])};
    const int64_t block = planes_of(table.dtype).block;
    return {{.shader = typed("embed", table.dtype),
             .constants = {elements_at_once},
             .parameters = Parameters(parameters),
             .x = {.units = (columns + block - 1) / block * (block / 8),
                   .per_group = elements_at_once,
                   .live = live(y)}}};
}

}  // namespace

extern const VulkanKernel embed{.name = "embed", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
