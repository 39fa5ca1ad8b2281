#include "cli/bench/known_limits.h"

namespace tandem::cli {

const HighestLimits& KnownLimits::of(const MeasuredDevices& devices, bool exceeded) {
    auto [found, added] = known_.try_emplace({devices.names, devices.how.threads}, Known{});
    Known& known = found->second;
    if (added) {
        if (fresh_)
            known.limits.highest = known.limits.now = limits_of(devices, true);
        else
            known.limits = highest_limits_of(devices);
    } else if (exceeded && !known.repeated) {
        known.repeated = true;
        known.limits.highest = highest_limits_of(devices).highest;
    }
    return known.limits;
}

}  // namespace tandem::cli
