#include "kernels/vulkan/hazards.h"

#include <algorithm>
#include <cstdint>

namespace tandem::kernels::vulkan {

namespace {

int64_t bytes_spanned(const graph::View& view) {
    int64_t last = 0;
    for (size_t i = 0; i < view.extents.size() && i < view.strides.size(); ++i)
        last += (view.extents[i] - 1) * view.strides[i];
    return (last + 1) * 4;
}

struct Access {
    Where where;
    int64_t begin, end;  // bytes; of a state its number and the next
    bool writes;
};

std::vector<Access> accesses_of(const Launch& launch) {
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
    if (launch.given)
        add(launch.given, launch.kernel->gives(launch.operations)->bytes(launch.given.view), true);
    if (launch.scratch_bytes > 0)
        accesses.push_back({Where::Arena, launch.scratch_offset,
                            launch.scratch_offset + launch.scratch_bytes, true});
    return accesses;
}

bool conflict(const std::vector<Access>& earlier, const std::vector<Access>& later) {
    return std::ranges::any_of(earlier, [&](const Access& a) {
        return std::ranges::any_of(later, [&](const Access& b) {
            return (a.writes || b.writes) && a.where == b.where && a.begin < b.end &&
                   b.begin < a.end;
        });
    });
}

}  // namespace

std::vector<std::vector<size_t>> waves_of(std::span<const Launch> launches) {
    std::vector<std::vector<Access>> accesses;
    std::vector<std::vector<size_t>> waves;
    for (size_t i = 0; i < launches.size(); ++i) {
        accesses.push_back(accesses_of(launches[i]));
        // The wave behind the last that has a launch to wait for.
        size_t wave = waves.size();
        while (wave > 0 && std::ranges::none_of(waves[wave - 1], [&](size_t earlier) {
                   return conflict(accesses[earlier], accesses[i]);
               }))
            --wave;
        if (wave == waves.size()) waves.emplace_back();
        waves[wave].push_back(i);
    }
    return waves;
}

}  // namespace tandem::kernels::vulkan
