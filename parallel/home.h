// Homes: what a user sends to devices of its own, past the split mode (-ot, -cmoe, -ncmoe). A home
// has whole parts: naming one weight moves all that are cut together with it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parallel/part.h"
#include "parallel/placement.h"

namespace tandem::parallel {

struct Home {
    std::string pattern;  // found anywhere in the name of a tensor; ECMAScript
    Group group;          // that shares each part equally
    int64_t blocks = std::numeric_limits<int64_t>::max();  // only of so many, the first
    bool optional = false;  // whether a model may have nothing of that name
    std::string asked_by;   // for messages: "-ot exps=cpu"
};

// [part]: the first home that names a weight of it; null: none. Throws Error for a pattern that is
// no regular expression, and for a home that names no weight which can be moved.
std::vector<const Home*> homes_of(const graph::Graph& graph, std::span<const Part> parts,
                                  std::span<const Home> homes);

}  // namespace tandem::parallel
