// A plan: the group of every layer and the placement of every weight and state. A pure function of
// the graph, the flags and the device table; made and printed before a byte is loaded.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parallel/device_table.h"
#include "parallel/placement.h"
#include "parallel/policy.h"

namespace tandem::parallel {

struct Plan {
    std::string mode;
    std::vector<Group> groups;           // [layer + 1]: the embedding, the blocks, the head
    std::deque<Partition> partitions;    // pointed to by the anchors
    std::vector<Placement> anchors;      // [value]: of weights and states
    std::vector<std::string> obstacles;  // axes that cannot be cut as finely as there are devices
    std::vector<std::string> idle;       // homes that have nothing

    const Group& group(int layer) const { return groups[size_t(layer) + 1]; }
};

// Throws Error for a mode that does not exist, a ratio or a main device that does not fit so many
// devices: what can be told without a model.
void require_sensible(const PlanOptions& options, size_t devices);
// Throws Error for what is not sensible.
Plan make_plan(const graph::Graph& graph, const DeviceTable& table, const PlanOptions& options);

// Rows and columns of a weight or state that a device holds under its anchor; rows 0 for none.
struct LocalSize {
    int64_t matrices = 1, rows = 0, columns = 0;
};
LocalSize local_size(const graph::Value& value, const Placement& anchor, int device);
// Bytes that it takes there, packed as the device packs it.
int64_t local_bytes(const graph::Value& value, const Placement& anchor, int device,
                    const DeviceTable& table);

// Bytes per device of weights, and of states.
std::vector<int64_t> weight_bytes(const graph::Graph& graph, const Plan& plan,
                                  const DeviceTable& table);
std::vector<int64_t> state_bytes(const graph::Graph& graph, const Plan& plan,
                                 const DeviceTable& table);

}  // namespace tandem::parallel
