// The placed list: a graph in which every operand is where its node needs it, as one total order of
// computations and exchanges for all devices. Each device's program is a projection of it, so
// exchanges meet in the same order everywhere.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "parallel/placement.h"

namespace tandem::parallel {

// A value under one placement. A value may have several, e.g. an addend and the reduced sum.
struct Instance {
    int value = -1;
    Placement placement;
    int view_of = -1;        // the replicated instance of which this is each member's range
    std::vector<int> joins;  // instances which together are this one: each device has one of them
};

struct Compute {
    int node = -1;
    Group devices;                         // that may have work
    const Partition* partition = nullptr;  // the cut; members with an empty range have no work
    std::vector<int> inputs;               // instances; -1: an operand left out
    int output = -1;
};

// What travels in one message: several values where neighbouring exchanges are of one kind.
struct Transfer {
    int from = -1, to = -1;  // instances
};

struct Exchange {
    enum class Kind {
        Sum,   // every receiver gets the sum of the sources' addends: all-reduce, reduce
        Place  // every receiver gets the sources' ranges side by side: all-gather, send, broadcast
    };
    Kind kind = Kind::Sum;
    Group sources, receivers;
    bool to_host = false;  // the logits, which no device receives
    std::vector<Transfer> transfers;
};

struct Placed {
    const graph::Graph* graph = nullptr;
    std::vector<Instance> instances;
    std::vector<std::variant<Compute, Exchange>> steps;
    size_t head_begin = 0;  // index of the first step of the head
};

// "all_reduce", "reduce", "all_gather", "gather", "send", "broadcast"
std::string_view kind_name(const Exchange& exchange);
// One line per step.
std::string to_string(const Placed& placed);

}  // namespace tandem::parallel
