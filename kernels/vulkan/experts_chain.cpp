#include "kernels/vulkan/chain.h"
#include "kernels/vulkan/experts.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

enum BiasOperand : size_t { bias_ids, bias_weights, bias_rows };

// The sum with the biases, which here are those of the same choices and all held here.
bool adds_biases(std::span<const Operation> ahead) {
    if (ahead.size() < 3 || !is(ahead[1], "expert_bias")) return false;
    const int operand = addend_of(ahead[0], ahead[2], 2);
    return operand >= 0 && reads_all(ahead[2], size_t(operand), ahead[1]) &&
           read_only_by(ahead[1], 1) &&
           ahead[1].node->inputs[bias_ids].value == ahead[0].node->inputs[moe_ids].value &&
           ahead[1].node->inputs[bias_weights].value == ahead[0].node->inputs[moe_weights].value &&
           ahead[1].inputs[bias_rows].view.extents[0] ==
               ahead[0].inputs[moe_gate].view.extents[0] &&
           ahead[1].inputs[bias_rows].view.extents[1] == ahead[2].output.view.extents[1];
}

}  // namespace

ExpertsChain experts_chain(std::span<const Operation> ahead) {
    ExpertsChain chain;
    if (adds_biases(ahead)) chain = {.length = 3, .biases = &ahead[1].inputs[bias_rows]};
    if (ahead.size() == chain.length) return chain;
    const Operation &last = ahead[chain.length - 1], &next = ahead[chain.length];
    const int operand = addend_of(last, next);
    if (operand < 0 || !lies_alike(next.inputs[size_t(operand)].view, next.output.view))
        return chain;
    chain.addend = &next.inputs[size_t(operand)];
    ++chain.length;
    return chain;
}

ExpertsResult experts_result(const Launch& launch, const Site& site) {
    const ExpertsChain chain = experts_chain(launch.operations);
    const Operand& y = launch.operations.back().output;
    return {.biases = chain.biases ? site.address(*chain.biases) : 0,
            .addend = chain.addend ? site.address(*chain.addend) : 0,
            .y = site.address(y),
            .y_stride = uint32_t(y.view.strides[0])};
}

}  // namespace tandem::kernels::vulkan
