#include "parallel/snapshot.h"

namespace tandem::parallel {

Snapshot::Snapshot(const Holders& holders, int64_t position) : position_(position) {
    const graph::Graph& graph = *holders.placed.graph;
    for (const SavedState& state : saved_states(graph, position)) {
        if (keeps_positions(graph, state.value)) continue;
        rows_.push_back({state, std::vector<std::byte>(size_t(state.bytes()))});
        read_state(holders, state, rows_.back().bytes.data());
    }
}

void Snapshot::restore(const Holders& holders) const {
    for (const Rows& rows : rows_)
        write_state(holders, rows.state, rows.state.inner, rows.bytes.data());
}

}  // namespace tandem::parallel
