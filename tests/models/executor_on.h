// One mapping of a model after another, on the same devices.
#pragma once

#include <memory>
#include <vector>

#include "cli/engine.h"

namespace tandem::test {

using Devices = std::vector<std::unique_ptr<kernels::Device>>;

// Loads what the blueprint gives to each device onto those of `devices`, in their order; where
// these are fewer, the blueprint's own are added. The weights and states that they had before are
// replaced; pipelines, which a Vulkan device takes longest to make, stay. The executor must go
// before the devices and the blueprint.
std::unique_ptr<parallel::Executor> executor_on(Devices& devices, const gguf::File& file,
                                                cli::Blueprint& blueprint,
                                                const cli::EngineOptions& options);

}  // namespace tandem::test
