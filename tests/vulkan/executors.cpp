// A device goes on where one executor left it when the next one takes it over.
#include <gtest/gtest.h>

#include "cli/engine.h"
#include "data.h"
#include "kernels/vulkan.h"
#include "parallel/communicator/host.h"
#include "parallel/executor.h"
#include "parallel/load.h"

namespace tandem::test {
namespace {

using namespace parallel;

TEST(VulkanExecutors, take_turns_on_a_device) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const gguf::File file = gguf::File::open(data("fixtures/llama-rope-factors.gguf"));
    const std::vector<int32_t> tokens(40, 5);
    cli::EngineOptions options;
    options.devices = {"vulkan0"};
    options.plan.mode = "none";
    options.model.context = options.plan.bucket = int64_t(tokens.size());
    const auto blueprint = cli::make_blueprint(file, options);
    std::atomic<int64_t> progress = 0;
    const std::atomic<bool> cancelled = false;
    load(file, *blueprint->graph, blueprint->plan, blueprint->devices, progress, cancelled);
    std::vector<float> results[3];
    for (std::vector<float>& result : results) {
        Executor executor(
            blueprint->placed, blueprint->devices, blueprint->programs,
            std::make_unique<HostCommunicator>(blueprint->placed, 1, Wire::F32, false),
            options.plan.bucket);
        for (int step = 0; step < 3; ++step) {
            graph::StepInputs inputs;
            inputs.append(0, 0, tokens);
            inputs.rows = {int32_t(tokens.size()) - 1};
            executor.wait(executor.submit(std::move(inputs)),
                          [&](int64_t, std::span<const float> rows) {
                              result.insert(result.end(), rows.begin(), rows.end());
                          });
        }
    }
    EXPECT_FALSE(results[0].empty());
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
}

}  // namespace
}  // namespace tandem::test
