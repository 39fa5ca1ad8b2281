#include "models/executor_on.h"

#include <algorithm>
#include <atomic>
#include <span>

#include "parallel/communicator/host.h"
#include "parallel/load.h"

namespace tandem::test {

std::unique_ptr<parallel::Executor> executor_on(Devices& devices, const gguf::File& file,
                                                cli::Blueprint& blueprint,
                                                const cli::EngineOptions& options) {
    const size_t count = blueprint.devices.size();
    for (size_t i = devices.size(); i < count; ++i)
        devices.push_back(std::move(blueprint.devices[i]));
    const std::span used(devices.data(), count);
    std::atomic<int64_t> progress = 0;
    const std::atomic<bool> cancelled = false;
    parallel::load(file, *blueprint.graph, blueprint.plan, used, progress, cancelled);
    const bool share_cores = std::ranges::any_of(
        used, [](const auto& device) { return device->description().shares_cores; });
    return std::make_unique<parallel::Executor>(
        blueprint.placed, used, blueprint.programs,
        std::make_unique<parallel::HostCommunicator>(blueprint.placed, count, options.wire,
                                                     !share_cores),
        options.plan.bucket);
}

}  // namespace tandem::test
