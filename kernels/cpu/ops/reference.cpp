// Any op by its reference code, on one member of the team: what no other kernel claims. Packed
// matrices have kernels of their own for every shape, so it never meets one.
#include "kernels/cpu/packing.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    for (const Operand& input : ahead[0].inputs)
        if (input.where == Where::Weight && is_packed(input.view.dtype, input.use)) return 0;
    return 1;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    std::vector<graph::View> inputs;
    for (const Operand& input : operation.inputs) inputs.push_back(site.view(input));
    graph::View output = site.view(operation.output);
    const graph::Node* node = operation.node;
    return [=](const Worker& worker) {
        if (worker.index != 0) return;
        std::vector<graph::View> live = inputs;
        graph::View result = output;
        for (graph::View& view : live) set_live_extents(view, site.inputs());
        set_live_extents(result, site.inputs());
        node->op->reference({*node, live, result, site.inputs()});
    };
}

}  // namespace

extern const CpuKernel reference{.name = "reference", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
