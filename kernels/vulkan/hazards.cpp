#include "kernels/vulkan/hazards.h"

#include <algorithm>

namespace tandem::kernels::vulkan {

namespace {

int64_t bytes_spanned(const graph::View& view) {
    int64_t last = 0;
    for (size_t i = 0; i < view.extents.size() && i < view.strides.size(); ++i)
        last += (view.extents[i] - 1) * view.strides[i];
    return (last + 1) * 4;
}

}  // namespace

std::vector<Hazards::Access> Hazards::accesses_of(const Launch& launch) {
    std::vector<Access> accesses;
    auto add = [&](const Operand& operand, int64_t bytes, bool writes) {
        if (operand.where == Where::State)  // whoever has a state as its operand may write it
            accesses.push_back({operand.where, operand.value, operand.value + 1, true});
        if (operand.where == Where::Arena || operand.where == Where::Sending ||
            operand.where == Where::Landing)
            accesses.push_back({operand.where, operand.offset, operand.offset + bytes, writes});
    };
    for (const Operation& operation : launch.operations) {
        for (size_t i = 0; i < operation.inputs.size(); ++i) {
            const graph::View& view = operation.inputs[i].view;
            // A form may take less memory than the value as it lies.
            const Form* form = launch.kernel->form ? launch.kernel->form(operation, i) : nullptr;
            add(operation.inputs[i], form ? form->bytes(view) : bytes_spanned(view), false);
        }
        add(operation.output, bytes_spanned(operation.output.view), true);
    }
    if (launch.scratch_bytes > 0)
        accesses.push_back({Where::Arena, launch.scratch_offset,
                            launch.scratch_offset + launch.scratch_bytes, true});
    return accesses;
}

bool Hazards::must_wait(const Launch& launch) {
    std::vector<Access> accesses = accesses_of(launch);
    bool conflict = std::any_of(noted_.begin(), noted_.end(), [&](const Access& earlier) {
        return std::any_of(accesses.begin(), accesses.end(), [&](const Access& now) {
            return (earlier.writes || now.writes) && earlier.where == now.where &&
                   earlier.begin < now.end && now.begin < earlier.end;
        });
    });
    if (conflict) noted_.clear();
    noted_.insert(noted_.end(), accesses.begin(), accesses.end());
    return conflict;
}

}  // namespace tandem::kernels::vulkan
