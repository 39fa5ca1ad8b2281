// What a sequence has in the states of a model, out of the devices that hold them and into them, in
// the undivided layout: as if one device held it all, in no more cells than the sequence needs. So
// it does not tell under which plan, for which context or in which steps it was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "parallel/placed.h"
#include "parallel/plan.h"

namespace tandem::parallel {

// A sequence's rows of one state, as files store the type, one after another: [outer inner].
struct SavedState {
    int value = -1;
    bool by_position = false;
    int64_t outer = 1;  // row axes between the slots and the last
    Range inner;        // of the last row axis, or of positions in place of its cells
    int64_t row_bytes = 0;

    int64_t bytes() const { return outer * inner.size() * row_bytes; }
    bool operator==(const SavedState&) const = default;
};

// Of every state, once so many tokens are evaluated: of none, no rows; of a windowed cache, what
// the window of the next token has of them.
std::vector<SavedState> saved_states(const graph::Graph& graph, int64_t position);
// Whether a state has all positions, the first tokens' beside the others.
bool keeps_positions(const graph::Graph& graph, int state);
// Whether all states do, so that a sequence can go back to any of its tokens.
bool keeps_positions(const graph::Graph& graph);
// Whether the first tokens can go on without the others: all or none of them, or caches have each.
bool can_return(const graph::Graph& graph, int64_t position, int64_t to);

// A model that devices hold by a plan, and which of its sequences is meant.
struct Holders {
    const Placed& placed;
    const Plan& plan;
    std::span<const std::unique_ptr<kernels::Device>> devices;
    int32_t slot = 0;
};

// Out of the first device that works on a row, and into all that hold it, while no step is on its
// way: state.bytes(). `inner` bounds what is written of the last axis, as of positions.
void read_state(const Holders& holders, const SavedState& state, std::byte* to);
void write_state(const Holders& holders, const SavedState& state, Range inner,
                 const std::byte* from);

}  // namespace tandem::parallel
