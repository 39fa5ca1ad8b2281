#include "parallel/saved_state.h"

#include <algorithm>
#include <ranges>

#include "gguf/error.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Value;
using kernels::StateRows;

namespace {

// Rows that lie together in the undivided layout, from row `at` on, and on a device.
struct Run {
    int64_t at = 0;
    StateRows local;
};

// What a device has of a state: ranges of all row axes but the slots, and how long these axes are.
class Share {
  public:
    Share(const Value& value, const Placement& anchor, int device) {
        const graph::Shape axes = value.row_axes();
        check(axes.size() > 1 && role(axes[0]) == "slots", "every sequence has states of its own");
        const Partition* partition = anchor.partition;
        for (size_t i = 1; i < axes.size(); ++i) {
            ranges_.push_back(partition ? partition->range(partition->member(device), axes[i])
                                        : Range{0, axes[i]->extent});
            extents_.push_back(axes[i]->extent);
        }
        for (Axis axis : value.column_axes())
            check(!partition || !partition->divides(axis), "rows of states are whole");
    }

    // Of the last axis.
    Range inner() const { return ranges_.back(); }
    int64_t outer() const {
        int64_t count = 1;
        for (size_t i = 0; i + 1 < ranges_.size(); ++i) count *= ranges_[i].size();
        return count;
    }
    // Where a local index over the others stands among all.
    int64_t undivided(int64_t local) const {
        int64_t number = 0, step = 1;
        for (size_t i = ranges_.size() - 1; i-- > 0;) {
            number += (ranges_[i].begin + local % ranges_[i].size()) * step;
            local /= ranges_[i].size();
            step *= extents_[i];
        }
        return number;
    }

  private:
    std::vector<Range> ranges_;
    std::vector<int64_t> extents_;
};

// Pieces of a range of the last axis, or of positions, that lie together on a device: where the
// range goes on, where they lie among its own rows, and how many.
struct Piece {
    int64_t at, local, count;
};

std::vector<Piece> pieces_of(const SavedState& state, Range wanted, Range own) {
    std::vector<Piece> pieces;
    if (!state.by_position) {
        const int64_t begin = std::max(wanted.begin, own.begin);
        const int64_t end = std::min(wanted.end, own.end);
        if (begin < end) pieces.push_back({begin, begin - own.begin, end - begin});
        return pieces;
    }
    // Caches are rings.
    check(wanted.size() <= own.size(), "a cache has room for the positions that it needs");
    for (int64_t at = wanted.begin; at < wanted.end; at += pieces.back().count) {
        const int64_t cell = at % own.size();
        pieces.push_back({at, cell, std::min(own.size() - cell, wanted.end - at)});
    }
    return pieces;
}

std::vector<Run> runs_of(const Holders& holders, const SavedState& state, Range inner, int device) {
    const Value& value = holders.placed.graph->value(state.value);
    const Placement& anchor = holders.plan.anchors[size_t(state.value)];
    std::vector<Run> runs;
    const LocalSize size = local_size(value, anchor, device);
    if (size.rows == 0) return runs;
    const Share share(value, anchor, device);
    const std::vector<Piece> pieces = pieces_of(state, inner, share.inner());
    for (int64_t i = 0; i < share.outer(); ++i)
        for (const Piece& piece : pieces)
            runs.push_back(
                {.at = share.undivided(i) * state.inner.size() + piece.at - state.inner.begin,
                 .local = {.value = state.value,
                           .dtype = value.dtype,
                           .columns = size.columns,
                           .first = (holders.slot * share.outer() + i) * share.inner().size() +
                                    piece.local,
                           .count = piece.count}});
    return runs;
}

// The devices whose own steps change a state: others may hold all of it, and never do, as they have
// nothing of what else its node works on. The first node to read a state is the one to change it.
Group workers_on(const Placed& placed, int state) {
    for (const auto& step : placed.steps) {
        const auto* compute = std::get_if<Compute>(&step);
        const auto reads = [&](int input) {
            return input >= 0 && placed.instances[size_t(input)].value == state;
        };
        if (!compute || std::ranges::none_of(compute->inputs, reads)) continue;
        Group workers = compute->devices;
        if (const Partition* cut = compute->partition)
            std::erase_if(workers, [&](int device) { return cut->empty(cut->member(device)); });
        return workers;
    }
    check(false, "somebody reads every state");
    return {};
}

}  // namespace

std::vector<SavedState> saved_states(const Graph& graph, int64_t position) {
    std::vector<SavedState> states;
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const Value& value = graph.value(int(i));
        if (value.kind != graph::Kind::State) continue;
        const graph::Holding holding = holding_of(graph, int(i));
        const graph::Shape rows = value.row_axes();
        SavedState state{.value = int(i),
                         .by_position = holding.by_position,
                         .inner = {0, position == 0 ? 0 : rows.back()->extent},
                         .row_bytes = gguf::row_bytes(value.dtype, elements(value.column_axes()))};
        for (size_t axis = 1; axis + 1 < rows.size(); ++axis) state.outer *= rows[axis]->extent;
        if (holding.by_position) {
            const bool windowed = holding.window > 0;
            state.inner = {windowed ? std::max<int64_t>(0, position + 1 - holding.window) : 0,
                           position};
        }
        states.push_back(state);
    }
    return states;
}

bool keeps_positions(const Graph& graph, int state) {
    const graph::Holding holding = holding_of(graph, state);
    return holding.by_position && holding.window == 0;
}

bool keeps_positions(const Graph& graph) {
    for (size_t i = 0; i < graph.values().size(); ++i)
        if (graph.value(int(i)).kind == graph::Kind::State && !keeps_positions(graph, int(i)))
            return false;
    return true;
}

bool can_return(const Graph& graph, int64_t position, int64_t to) {
    if (to == 0 || to == position) return true;
    return std::ranges::all_of(saved_states(graph, position), [](const SavedState& state) {
        return state.by_position && state.inner.begin == 0;
    });
}

void read_state(const Holders& holders, const SavedState& state, std::byte* to) {
    Group group = workers_on(holders.placed, state.value);
    if (!holders.plan.anchors[size_t(state.value)].partition) group.resize(1);
    int64_t rows = 0;
    // Of rows that several have, those of the first are read last, and stay.
    for (int device : group | std::views::reverse)
        for (const Run& run : runs_of(holders, state, state.inner, device)) {
            holders.devices[size_t(device)]->read_state(run.local, to + run.at * state.row_bytes);
            rows += run.local.count;
        }
    check(rows >= state.outer * state.inner.size(), "every row of a state is worked on");
}

void write_state(const Holders& holders, const SavedState& state, Range inner,
                 const std::byte* from) {
    check(state.inner.begin <= inner.begin && inner.end <= state.inner.end,
          "only rows that were saved are written");
    for (int device : holders.plan.anchors[size_t(state.value)].group)
        for (const Run& run : runs_of(holders, state, inner, device))
            holders.devices[size_t(device)]->write_state(run.local,
                                                         from + run.at * state.row_bytes);
}

}  // namespace tandem::parallel
