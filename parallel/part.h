// Parts: the weights and states that are connected through divisible axes, and how each may be cut.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem::parallel {

using graph::Axis;

// One way to divide a part. Bounds count units of `axis`, or of axis x inner (see Partition), and
// may stand at multiples of `grain`: the fewest units such that, in every weight in which the axis
// is contracted, the cut lands on a quantisation block.
struct Cut {
    Axis axis = nullptr;
    Axis inner = nullptr;
    int64_t grain = 1;
    std::string obstacle;  // the weight that sets a grain above 1, and why

    int64_t extent() const { return axis->extent * (inner ? inner->extent : 1); }
    int64_t units() const { return extent() / grain; }  // the most devices that can share it
};

struct Part {
    std::string name;         // "blk.3.ffn"
    int layer = 0;            // the first that has it
    std::vector<Cut> cuts;    // in the order of the policy's roles
    std::vector<int> values;  // weights and states that mention one of its axes
};

// Roles of all axes that can be divided.
inline constexpr std::string_view divisible_roles[] = {"kv_heads", "k_heads", "ffn", "experts",
                                                       "vocab"};

// The parts of a graph with respect to the roles that are divided, in the order of layers.
std::vector<Part> find_parts(const graph::Graph& graph, std::span<const std::string_view> roles);

// The cut by which `devices` devices are best served: the first with units enough, else the one
// with the most.
const Cut& best_cut(const Part& part, size_t devices);

}  // namespace tandem::parallel
