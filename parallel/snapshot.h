// What a sequence has, kept in memory, so that it can go back to there: recurrent states and
// windows do not keep what they have moved on from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/saved_state.h"

namespace tandem::parallel {

class Snapshot {
  public:
    // Of a sequence's first tokens, which are all that it has evaluated; nothing is on its way.
    Snapshot(const Holders& holders, int64_t position);

    int64_t position() const { return position_; }
    // Brings the sequence back, however far it has gone on, while nothing is on its way. It may
    // have been interrupted in the middle of a step.
    void restore(const Holders& holders) const;

  private:
    // Of a state that does not keep all positions.
    struct Rows {
        SavedState state;
        std::vector<std::byte> bytes;
    };
    int64_t position_;
    std::vector<Rows> rows_;
};

}  // namespace tandem::parallel
