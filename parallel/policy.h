// Split modes. Each is a row of a table: which axes it divides, and a function that chooses the
// group of every layer and the shares of every part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "parallel/device_table.h"
#include "parallel/home.h"
#include "parallel/part.h"
#include "parallel/placement.h"

namespace tandem::parallel {

struct PlanOptions {
    std::string mode = "layer";  // -sm
    std::vector<double> ratio;   // -ts: one per device; empty: not given
    int main_device = 0;         // -mg: of mode none
    int64_t bucket = 512;        // the most tokens of a step
    int64_t context = 512;       // tokens that a cache has room for
    std::vector<Home> homes;     // -ot, -cmoe: the first one that names a weight counts
    int home_devices = 0;        // so many devices, the last ones, only have what they are homes of

    size_t sharing(size_t devices) const { return devices - size_t(home_devices); }
};

// All that a policy may look at: what has no other home, and the devices that share it.
struct Question {
    const graph::Graph& graph;
    std::span<const Part> parts;
    const std::vector<bool>& moved;  // [value]: whether it has a home
    const DeviceTable& table;
    const PlanOptions& options;
};

struct Choice {
    std::vector<Group> groups;                // [layer + 1]: the embedding, the blocks, the head
    std::vector<Cut> cuts;                    // [part]
    std::vector<std::vector<double>> shares;  // [part][member of its layer's group], adding up to 1
};

struct Policy {
    std::string_view name;
    std::string_view sentence;                  // for the help of -sm
    std::span<const std::string_view> divides;  // roles of axes
    Choice (*choose)(const Question& question);
    bool by_memory = false;  // without a ratio, by what devices have free
};

std::span<const Policy> policies();
// Throws Error naming the modes that exist.
const Policy& find_policy(std::string_view name);

// Whether a block before `bound` fills a cache that one from it on reads, too: their devices are
// the same. `moved`: as in a Question; no value: none is.
bool is_in_shared_cache(const graph::Graph& graph, int64_t bound,
                        const std::vector<bool>& moved = {});
// The choice of mode `layer`: whole layers, by memory.
Choice choose_by_layers(const Question& question);
// The choice of mode `graph`: least seconds by the device table (parallel/choose_by_cost.cpp).
Choice choose_by_cost(const Question& question);

}  // namespace tandem::parallel
