// What the two ways of moe_ffn, for few tokens and for many, have in common.
#pragma once

#include "graph/ops/moe_ffn.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// A `choice` is one expert for one token.
struct ExpertSizes {
    int64_t tokens = 0, used = 0, choices = 0;  // capacities
    int64_t experts = 0, ffn = 0, embd = 0;     // held here

    explicit ExpertSizes(const Operation& operation) {
        using namespace graph::ops;
        const graph::View &x = operation.inputs[moe_x].view,
                          &gate = operation.inputs[moe_gate].view;
        tokens = x.extents[0];
        used = operation.inputs[moe_ids].view.extents[1];
        choices = tokens * used;
        experts = gate.extents[0];
        ffn = gate.extents[1];
        embd = x.extents[1];
    }
};

// What follows moe_ffn and can be done with its last sums: the biases of the chosen experts, and an
// addition.
struct ExpertsChain {
    size_t length = 1;                // operations, moe_ffn included
    const Operand* biases = nullptr;  // [experts embd]
    const Operand* addend = nullptr;  // which lies as the result
};
ExpertsChain experts_chain(std::span<const Operation> ahead);

// The same as the shaders of those sums have it (shaders/experts_result.glsl).
struct ExpertsResult {
    Address biases = 0, addend = 0;
    Address y = 0;
    uint32_t y_stride = 0, unused = 0;
};
ExpertsResult experts_result(const Launch& launch, const Site& site);

// shaders/expert_units.comp: the scales, biases and units of products that `gates` and `ups` hold.
// What they become is in f32, perhaps in the place of `gates`, or in int8 blocks
// (expert_units_blocks.comp).
Dispatch expert_units(const Operation& operation, const Site& site, Address gates, Address ups,
                      Address hidden, bool in_blocks);

// As many as shared memory has room for: a count, a place and the bits of invocations for each.
inline constexpr int64_t most_sorted_experts = shared_bytes / 12;
// Each choice by itself: where tokens are so few that this is cheaper, or experts so many that
// choices cannot be ordered by them.
bool takes_choices_alone(const Operation& operation);
// Throws Error where there are too many choices.
int64_t few_experts_bytes(const Operation& operation);
std::vector<Dispatch> few_experts(const Launch& launch, const Site& site);
// In int8, for types of weights that have integer codes, the same for gate and up; x is in int8
// blocks.
bool experts_have_dots(const Operation& operation);
int64_t few_dots_bytes(const Operation& operation);
std::vector<Dispatch> few_experts_in_dots(const Launch& launch, const Site& site);

// How experts of many tokens are multiplied; x is in int8 blocks for dots, else in f32.
enum class ExpertProducts { InFloats, InDots, OnMatrixUnits };
int64_t many_experts_bytes(const Operation& operation, ExpertProducts how);
std::vector<Dispatch> many_experts(const Launch& launch, const Site& site, ExpertProducts how);

}  // namespace tandem::kernels::vulkan
