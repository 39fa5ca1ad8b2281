// moe_ffn: for a few tokens each choice by itself, for many the choices of an expert together.
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/units.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

struct UnitParameters {
    Address count, ids, gate_scale, up_scale, gate_bias, up_bias, gates, ups, hidden;
    uint32_t ids_stride, used, first_expert, experts, rows;
};

}  // namespace

Dispatch expert_units(const Operation& operation, const Site& site, Address gates, Address ups,
                      Address hidden, bool in_blocks) {
    const ExpertSizes sizes(operation);
    const std::vector<Operand>& inputs = operation.inputs;
    const UnitParameters parameters{.count = site.count(inputs[moe_x].view),
                                    .ids = site.address(inputs[moe_ids]),
                                    .gate_scale = site.address(inputs[moe_gate_scale]),
                                    .up_scale = site.address(inputs[moe_up_scale]),
                                    .gate_bias = site.address(inputs[moe_gate_bias]),
                                    .up_bias = site.address(inputs[moe_up_bias]),
                                    .gates = gates,
                                    .ups = ups,
                                    .hidden = hidden,
                                    .ids_stride = uint32_t(inputs[moe_ids].view.strides[0]),
                                    .used = uint32_t(sizes.used),
                                    .first_expert = uint32_t(inputs[moe_gate].view.begins[0]),
                                    .experts = uint32_t(sizes.experts),
                                    .rows = uint32_t(sizes.ffn)};
    return {
        .shader = in_blocks ? "expert_units_blocks" : "expert_units",
        .constants = {elements_at_once, gated_unit(operation.node->attributes.word("activation"))},
        .parameters = Parameters(parameters),
        .x = {.units = sizes.used * sizes.ffn,
              .per_group = elements_at_once * (in_blocks ? 4 : 1),
              .live = live(inputs[moe_x].view)}};
}

namespace ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "moe_ffn") ? experts_chain(ahead).length : 0;
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    return takes_choices_alone(claimed[0])
               ? few_experts_bytes(claimed[0])
               : many_experts_bytes(claimed[0], ExpertProducts::InFloats);
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    return takes_choices_alone(launch.operations[0])
               ? few_experts(launch, site)
               : many_experts(launch, site, ExpertProducts::InFloats);
}

}  // namespace

extern const VulkanKernel moe_ffn{
    .name = "moe_ffn", .claim = claim, .bind = bind, .scratch_bytes = scratch_bytes};

}  // namespace ops

}  // namespace tandem::kernels::vulkan
