// moe_ffn for a few tokens: hidden rows of every choice by itself, then a token's sum over its
// choices, both in f32 or in int8.
#include "gguf/error.h"
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/product.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/tile.h"
#include "kernels/vulkan/units.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

struct HiddenParameters {
    Address count, ids, gate_scale, up_scale, gate_bias, up_bias, gate, up, x, y, codebook;
    uint32_t ids_stride, used, first_expert, experts, rows, columns, row_bytes, x_stride;
};

struct DownParameters {
    Address count, ids, weights, scale, down, hidden, codebook;
    uint32_t ids_stride, weights_stride, used, first_expert, experts, rows, columns, row_bytes;
    ExpertsResult result;
};

// Gate and up together with their unit, or `only` the product of one of them, which is in f32. In
// int8, y is in int8 blocks.
Dispatch hidden_rows(const Operation& operation, const Site& site, Address y, bool dots,
                     const Operand* only = nullptr) {
    const ExpertSizes sizes(operation);
    const std::vector<Operand>& inputs = operation.inputs;
    const graph::View& x = inputs[moe_x].view;
    const Operand& gate = only ? *only : inputs[moe_gate];
    const HiddenParameters parameters{
        .count = site.count(x),
        .ids = site.address(inputs[moe_ids]),
        .gate_scale = site.address(inputs[moe_gate_scale]),
        .up_scale = site.address(inputs[moe_up_scale]),
        .gate_bias = site.address(inputs[moe_gate_bias]),
        .up_bias = site.address(inputs[moe_up_bias]),
        .gate = site.address(gate),
        .up = site.address(inputs[moe_up]),
        .x = site.address(inputs[moe_x]),
        .y = y,
        .codebook = site.codebook(gate.view.dtype),
        .ids_stride = uint32_t(inputs[moe_ids].view.strides[0]),
        .used = uint32_t(sizes.used),
        .first_expert = uint32_t(gate.view.begins[0]),
        .experts = uint32_t(sizes.experts),
        .rows = uint32_t(sizes.ffn),
        .columns = uint32_t(sizes.embd),
        .row_bytes = uint32_t(plane_row_bytes(gate.view.dtype, sizes.embd)),
        .x_stride = uint32_t(x.strides[0])};
    const bool aligned = parameters.x % 16 == 0 && sizes.embd % 8 == 0 && x.strides[0] % 4 == 0;
    constexpr uint32_t rows = 2;  // of a subgroup
    const int64_t subgroup = site.features.subgroup;
    const uint32_t group =
        dots ? group_for(site, rows_of_block / rows * subgroup) : subgroups(site, 4);
    const uint32_t unit = gated_unit(operation.node->attributes.word("activation"));
    return {
        .shader = typed(dots ? "experts_hidden_dots" : "experts_hidden", gate.view.dtype),
        .constants = dots ? std::vector<uint32_t>{group, unit}
                          : std::vector<uint32_t>{group, unit, rows, !only, aligned},
        .parameters = Parameters(parameters),
        .x = {.units = sizes.ffn, .per_group = dots ? rows_of_block : rows * (group / subgroup)},
        .y = {.units = sizes.used, .live = live(x)}};
}

Dispatch down_sums(const Launch& launch, const Site& site, Address hidden, bool dots) {
    const Operation& operation = launch.operations[0];
    const ExpertSizes sizes(operation);
    const std::vector<Operand>& inputs = operation.inputs;
    const graph::View& down = inputs[moe_down].view;
    const DownParameters parameters{.count = site.count(inputs[moe_x].view),
                                    .ids = site.address(inputs[moe_ids]),
                                    .weights = site.address(inputs[moe_weights]),
                                    .scale = site.address(inputs[moe_down_scale]),
                                    .down = site.address(inputs[moe_down]),
                                    .hidden = hidden,
                                    .codebook = site.codebook(down.dtype),
                                    .ids_stride = uint32_t(inputs[moe_ids].view.strides[0]),
                                    .weights_stride = uint32_t(inputs[moe_weights].view.strides[0]),
                                    .used = uint32_t(sizes.used),
                                    .first_expert = uint32_t(down.begins[0]),
                                    .experts = uint32_t(sizes.experts),
                                    .rows = uint32_t(sizes.embd),
                                    .columns = uint32_t(sizes.ffn),
                                    .row_bytes = uint32_t(plane_row_bytes(down.dtype, sizes.ffn)),
                                    .result = experts_result(launch, site)};
    const bool aligned = hidden % 16 == 0 && sizes.ffn % 8 == 0;
    const uint32_t group = subgroups(site, int(std::min<int64_t>(sizes.used, 8)));
    const uint32_t rows = dots ? rows_of_subgroup(site, sizes.embd * sizes.choices) : 4;
    return {.shader = typed(dots ? "experts_down_dots" : "experts_down", down.dtype),
            .constants = dots ? std::vector<uint32_t>{group, rows}
                              : std::vector<uint32_t>{group, rows, aligned},
            .parameters = Parameters(parameters),
            .x = {.units = sizes.embd, .per_group = rows},
            .y = {.live = live(inputs[moe_x].view)}};
}

bool one_type(const Operation& operation) {
    return operation.inputs[moe_gate].view.dtype == operation.inputs[moe_up].view.dtype;
}

int64_t hidden_bytes(const Operation& operation) {
    const ExpertSizes sizes(operation);
    return (sizes.choices * sizes.ffn * 4 + 15) / 16 * 16;
}

// Of workgroups in the second dimension.
void refuse_too_many_choices(const Operation& operation) {
    const ExpertSizes sizes(operation);
    if (sizes.choices > most_groups)
        throw Error("Vulkan devices take " + std::to_string(most_groups / sizes.used) +
                    " tokens of " + std::to_string(sizes.experts) + " experts at once, not " +
                    std::to_string(sizes.tokens) + "; use smaller steps (-ub)");
}

}  // namespace

int64_t few_experts_bytes(const Operation& operation) {
    refuse_too_many_choices(operation);
    return hidden_bytes(operation) * (one_type(operation) ? 1 : 2);
}

std::vector<Dispatch> few_experts(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const Address hidden = site.scratch(launch), ups = hidden + Address(hidden_bytes(operation));
    std::vector<Dispatch> all;
    if (one_type(operation)) {
        all = {hidden_rows(operation, site, hidden, false)};
    } else {
        all = {hidden_rows(operation, site, hidden, false, &operation.inputs[moe_gate]),
               hidden_rows(operation, site, ups, false, &operation.inputs[moe_up]),
               expert_units(operation, site, hidden, ups, hidden, false)};
        all[1].after_previous = false;
    }
    all.push_back(down_sums(launch, site, hidden, false));
    return all;
}

bool takes_choices_alone(const Operation& operation) {
    const ExpertSizes sizes(operation);
    return sizes.tokens < Tile::least_tokens || sizes.experts > most_sorted_experts;
}

bool experts_have_dots(const Operation& operation) {
    return one_type(operation) && has_dots(operation.inputs[moe_gate].view.dtype) &&
           has_dots(operation.inputs[moe_down].view.dtype);
}

int64_t few_dots_bytes(const Operation& operation) {
    refuse_too_many_choices(operation);
    const ExpertSizes sizes(operation);
    return int8_bytes(sizes.choices * sizes.ffn);
}

std::vector<Dispatch> few_experts_in_dots(const Launch& launch, const Site& site) {
    const Address hidden = site.scratch(launch);
    return {hidden_rows(launch.operations[0], site, hidden, true),
            down_sums(launch, site, hidden, true)};
}

}  // namespace tandem::kernels::vulkan
