// Measurements of this machine's devices, kept in a folder so that they are made once: a file for
// each set of devices, named by what the devices say of themselves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/measure/speeds.h"

namespace tandem::cli {

struct MeasuredDevices {
    std::vector<std::string> names;
    kernels::DeviceOptions how;
    std::filesystem::path folder;  // empty: nothing is kept
};

// What was measured earlier, unless it is to be `fresh`; else measured now, and kept. A folder that
// cannot be written is no error. `say` hears of what takes time.
parallel::DeviceTable speeds_of(const MeasuredDevices& devices, bool fresh, const Say& say = {});
kernels::Limits limits_of(const MeasuredDevices& devices, bool fresh, const Say& say = {});
// What was measured now, and where it was more earlier, that: what else a machine does makes limits
// seem lower, and nothing makes them seem higher. The highest are kept, too.
struct HighestLimits {
    kernels::Limits highest, now;
};
HighestLimits highest_limits_of(const MeasuredDevices& devices);

}  // namespace tandem::cli
