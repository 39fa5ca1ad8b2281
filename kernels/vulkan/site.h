// Where a Vulkan kernel runs: what it needs to turn a launch into dispatches.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel.h"
#include "kernels/vulkan/dispatch.h"

namespace tandem::kernels::vulkan {

using Address = uint64_t;  // of device memory, as shaders see it

// What every adapter has: memory that a workgroup shares, and invocations of one.
inline constexpr int shared_bytes = 32768, least_invocations = 128;

// Units of the hardware that multiply whole fragments of matrices: operands in f16, sums in f32.
struct MatrixUnits {
    std::string variant;  // of shaders, a folder in shaders/fragments; empty: there are none
    uint32_t rows = 0, tokens = 0, depth = 0;  // of a fragment

    explicit operator bool() const { return !variant.empty(); }
};
// "matrix units 16x16x16"; empty where there are none.
std::string text_of(const MatrixUnits& units);

// What it offers beyond that.
struct Features {
    int subgroup = 32;              // invocations of a subgroup
    bool steady_subgroups = false;  // the same number in all shaders
    int most_invocations = 128;     // of a workgroup
    int busy_subgroups = 2048;      // about as many as keep it busy
    bool integer_dots = false;      // sums of four int8 products as one instruction
    MatrixUnits matrix_units;
};

// Where tokens stand, or rows.
struct StandingAddresses {
    Address positions = 0;
    Address sequences = 0;    // [slot first count cached]
    Address sequence_of = 0;  // of each token; 0 where there is one
};
// The inputs of a step in device memory. All arrays have room for as many tokens as a step may
// have.
struct StepAddresses {
    Address tokens = 0, rows = 0;  // counts
    Address ids = 0, row_numbers = 0;
    Address sequence_count = 0;
    StandingAddresses of_tokens, of_rows;
};

struct Site {
    const std::map<int, Address>& weights;
    const std::map<int, Address>& states;
    const std::map<int, std::vector<float>>& vectors;  // host copies of weights of one axis
    std::function<Address(gguf::DType)> codebook;
    // Puts a constant of the launch into device memory.
    std::function<Address(std::span<const std::byte>)> keep;
    // Memory of the launch's own that is cleared once.
    std::function<Address(int64_t bytes)> cleared;
    Address arena = 0, sending = 0, landing = 0;
    StepAddresses step;
    Features features;

    Address address(const Operand& operand) const;
    Address scratch(const Launch& launch) const { return arena + Address(launch.scratch_offset); }
    // Where the number of the view's live elements stands; 0 where it is 1.
    Address count(const graph::View& view) const;
    // And that of the sequences of its tokens.
    Address sequence_count(const graph::View& view) const;
    // Where the tokens or rows of the view stand.
    StandingAddresses standing(const graph::View& view) const;
};

Live live(const graph::View& view);
// True where a program has no more than one live element for it, or none is live.
bool is_one(const graph::View& view);

struct VulkanKernel {
    std::string_view name;
    size_t (*claim)(std::span<const Operation> ahead) = nullptr;
    std::vector<Dispatch> (*bind)(const Launch& launch, const Site& site) = nullptr;
    const Form* (*form)(const Operation& operation, size_t input) = nullptr;
    const Form* (*gives)(std::span<const Operation> claimed) = nullptr;
    int64_t (*scratch_bytes)(std::span<const Operation> claimed) = nullptr;
    // Only for devices that have it.
    enum class Needs { Nothing, IntegerDots, MatrixUnits } needs = Needs::Nothing;
};

// All kernels, made by the build from the files of ops/; no two claim the same front of operations,
// but for those with different needs. The same table as the planner of a device with these features
// sees it, matrix units first and then integer dots, and one kernel's entry there.
std::span<const VulkanKernel* const> ops_table();
std::span<const Kernel> claims(const Features& features);
const Kernel& claim_of(const VulkanKernel& kernel);

// Claims one operation of the op of that name.
inline bool is(const Operation& operation, std::string_view op) {
    return operation.node->op->name == op;
}

}  // namespace tandem::kernels::vulkan
