// Homes: what a user sends to devices of its own, past the split mode (-ot, -cmoe, -ncmoe). A home
// has whole parts: naming one weight moves all that are cut together with it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parallel/device_table.h"
#include "parallel/part.h"
#include "parallel/placement.h"

namespace tandem::parallel {

inline constexpr int64_t all_blocks = std::numeric_limits<int32_t>::max();

struct Home {
    std::string pattern;          // found anywhere in the name of a tensor; ECMAScript
    Group group;                  // that shares each part equally
    int64_t blocks = all_blocks;  // only of so many, the first
    bool optional = false;        // whether a model may have nothing of that name
    std::string asked_by;         // for messages: "-ot exps=cpu"
};

// [part]: the first home that names a weight of it; null: none. `idle` gets a sentence for each
// home that has no part. Throws Error for a pattern that is no regular expression, and for a home
// that names no weight which can be moved, unless it is optional.
std::vector<const Home*> homes_of(const graph::Graph& graph, std::span<const Part> parts,
                                  std::span<const Home> homes, std::vector<std::string>& idle);

// What homes leave to the split mode.
struct Rest {
    std::vector<Part> parts;
    std::vector<bool> moved;  // [value]: whether it has a home
    DeviceTable table;        // the first `sharing` devices, with the room that is left there

    Rest(const graph::Graph& graph, std::span<const Part> parts, std::span<const Home* const> homes,
         const DeviceTable& devices, size_t sharing);
};

}  // namespace tandem::parallel
