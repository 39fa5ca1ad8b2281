// What a plan puts on every device and sends between them, as data to be printed: from metadata
// alone, before a byte is loaded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/placed.h"
#include "parallel/plan.h"
#include "parallel/project.h"
#include "parallel/work.h"

namespace tandem::parallel {

struct DeviceReport {
    std::string name;
    int64_t weights = 0, states = 0, scratch = 0;  // bytes held
    int64_t free = 0, lacking = 0;                 // bytes
    DeviceWork work;

    int64_t needed() const { return weights + states + scratch; }
    bool fits() const { return lacking == 0; }
};

// Consecutive layers that are divided alike.
struct LayersReport {
    int first = 0, last = 0;  // -1 the embedding, then the blocks, then the head
    Group group;
    std::vector<const Partition*> parts;  // of the first of them
};

// Weights that every device of a group has whole.
struct WholeReport {
    Group group;
    int64_t weights = 0, bytes = 0;  // bytes on each of the devices
};

struct ExchangeReport {
    std::string_view kind;
    Group sources, receivers;
    bool to_host = false;
    int64_t count = 0;  // messages of a step
    int64_t bytes = 0;  // of all of them, for each token (body) or row (head), as f32
};

struct PlanReport {
    std::string mode;
    int blocks = 0;
    std::vector<DeviceReport> devices;
    std::vector<LayersReport> layers;
    std::vector<WholeReport> whole;
    std::vector<std::string> obstacles;
    std::vector<ExchangeReport> body, head;
};

// `programs` are those of the devices, in order. Pointers into the plan stay in the result.
PlanReport report_plan(const graph::Graph& graph, const Plan& plan, const Placed& placed,
                       const DeviceTable& table, std::span<const Programs> programs,
                       Wire wire = Wire::F32);

// Memory beside weights and states: the arena, and what exchanges have, in two slots where it is
// sent; addends are kept once more in a type of the wire that is not theirs.
int64_t scratch_bytes(const Programs& programs, Wire wire);
// The same of every device, with what the device takes for itself. Logits that several devices have
// a part of are put together in the host's memory: they count for the first device that lives
// there, if one is known to.
std::vector<int64_t> scratch_bytes(const Placed& placed, const DeviceTable& table,
                                   std::span<const Programs> programs, Wire wire);

}  // namespace tandem::parallel
