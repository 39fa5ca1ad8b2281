// Where a CPU kernel runs: what it needs to turn a launch into a task, and the task itself.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"
#include "kernels/host_memory.h"
#include "kernels/kernel.h"

namespace tandem::kernels::cpu {

// Everything that is fixed for a device when a launch is recorded.
struct Site {
    Addresses addresses;
    const Isa& isa;

    graph::View view(const Operand& operand) const { return addresses.view(operand); }
    std::byte* scratch(const Launch& launch) const {
        return addresses.arena + launch.scratch_offset;
    }
    const graph::StepInputs& inputs() const { return addresses.inputs; }
};

// A launch made ready: every member of the team calls it. Launches are separated by a barrier.
using Task = std::function<void(const Worker&)>;

struct CpuKernel {
    std::string_view name;
    size_t (*claim)(std::span<const Operation> ahead) = nullptr;
    Task (*bind)(const Launch& launch, const Site& site) = nullptr;
    const Form* (*form)(const Operation& operation, size_t input) = nullptr;
    int64_t (*scratch_bytes)(std::span<const Operation> claimed) = nullptr;
    size_t in_place = 0;
    Reduced needs = Reduced::Nothing;    // only for sets that reduce at least so much
    std::optional<bool> sums_in_halves;  // only for sets whose Isa::sums_in_halves is this
    // Each token's rows come from the same token's rows and whole values, and members divide them
    // by share_rows, Rows::share or each_row_part alone.
    bool by_tokens = false;
};

// The table in order of preference; what of it the planner sees; one kernel's entry there.
std::span<const CpuKernel* const> kernel_table();
std::span<const Kernel> claims(Reduced offered, bool halves);
const Kernel& claim_of(const CpuKernel& kernel);

// Whether it is one of the op of that name.
inline bool is(const Operation& operation, std::string_view op) {
    return operation.node->op->name == op;
}

}  // namespace tandem::kernels::cpu
