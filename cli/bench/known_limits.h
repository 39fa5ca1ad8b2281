// What the hardware of several sets of devices allows. A measurement that was disturbed is made
// again when a test turns out to be faster.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/measure/cached.h"

namespace tandem::cli {

class KnownLimits {
  public:
    // `exceeded`: a test was faster than what this gave before.
    const kernels::Limits& of(const MeasuredDevices& devices, bool exceeded = false);

  private:
    struct Known {
        kernels::Limits limits;
        bool repeated = false;
    };
    std::map<std::pair<std::vector<std::string>, int>, Known> known_;  // by names and threads
};

}  // namespace tandem::cli
