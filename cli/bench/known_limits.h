// What the hardware of several sets of devices allows: measured when it is first asked for, and
// again, once, when a test turns out to be faster. What was kept earlier counts where it is more.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/measure/cached.h"

namespace tandem::cli {

class KnownLimits {
  public:
    // `fresh`: nothing that was kept earlier counts.
    explicit KnownLimits(bool fresh) : fresh_(fresh) {}
    // `exceeded`: a test was faster than what this gave before.
    const HighestLimits& of(const MeasuredDevices& devices, bool exceeded = false);

  private:
    struct Known {
        HighestLimits limits;
        bool repeated = false;
    };
    const bool fresh_;
    std::map<std::pair<std::vector<std::string>, int>, Known> known_;  // by names and threads
};

}  // namespace tandem::cli
