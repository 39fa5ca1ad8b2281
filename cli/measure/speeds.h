// How fast devices read weights, multiply, and exchange: the numbers of a device table, measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/devices.h"
#include "parallel/device_table.h"

namespace tandem::cli {

// Called with what is being measured.
using Say = std::function<void(const std::string& sentence)>;

// The devices of one run, which work at the same time and are measured at the same time, so that
// those which share memory or cores get what is theirs. Seconds to tens of seconds.
parallel::DeviceTable measure_table(const std::vector<std::string>& names,
                                    const kernels::DeviceOptions& how, const Say& say = {});

// What the hardware of all devices together allows: measured at the same time, then added up.
// Devices of one name share theirs, which counts once.
kernels::Limits measure_limits(const std::vector<std::string>& names,
                               const kernels::DeviceOptions& how);

}  // namespace tandem::cli
