#include "cli/bench/known_limits.h"

namespace tandem::cli {

const kernels::Limits& KnownLimits::of(const MeasuredDevices& devices, bool exceeded) {
    auto [found, added] = known_.try_emplace({devices.names, devices.how.threads}, Known{});
    Known& known = found->second;
    if (added) {
        known.limits = fresh_ ? limits_of(devices, true) : highest_limits_of(devices);
    } else if (exceeded && !known.repeated) {
        known.repeated = true;
        known.limits = highest_limits_of(devices);
    }
    return known.limits;
}

}  // namespace tandem::cli
