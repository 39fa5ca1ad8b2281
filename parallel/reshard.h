// Brings values from one placement to another, remembering what was brought already.
//
//   from \ to    Replicated, same group   Split, same group          Replicated, other group
//   Replicated   nothing                  local view                 copy from the nearest holder
//   Split        all-gather               nothing, or gather + view  gather
//   Partial      all-reduce               reduce, view               reduce to the group
#pragma once

#include <vector>

#include "parallel/placed.h"

namespace tandem::parallel {

class Reshard {
  public:
    explicit Reshard(Placed& placed);

    // The instance that a node's result (or a value from outside) has first.
    int define(int value, Placement placement);
    int defined(int value) const { return instances_[size_t(value)].front(); }
    // True while the value is nowhere whole.
    bool only_addends(int value) const;
    // Adds the steps that bring the value there, if any; gives the instance.
    int bring(int value, const Placement& target);
    // Every device's part of the logits to the host.
    void fetch(int value);

  private:
    int add(int value, Placement placement, int view_of = -1);
    int known(int value, const Placement& target) const;
    int replicate(int value, const Group& group);
    void exchange(Exchange::Kind kind, const Group& sources, const Group& receivers, bool to_host,
                  Transfer transfer);

    Placed& placed_;
    std::vector<std::vector<int>> instances_;  // of each value, in the order of their making
};

}  // namespace tandem::parallel
