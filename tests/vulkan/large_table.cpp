// A model whose tied table is larger than what many drivers let one descriptor reach, lavapipe's
// 128 MiB among them.
#include <gtest/gtest.h>

#include "cli/engine.h"
#include "cli/synth/model.h"
#include "gguf/folder.h"
#include "kernels/vulkan.h"
#include "nmse.h"

namespace tandem::test {
namespace {

std::vector<float> logits_on(const gguf::File& file, const char* device) {
    cli::EngineOptions options;
    options.devices = {device};
    options.model.context = options.plan.context = options.plan.bucket = 8;
    cli::Engine engine(file, options);
    graph::StepInputs step;
    step.append(0, 0, std::vector<int32_t>{17, 128000 - 1});
    step.rows = {1};
    std::vector<float> logits;
    engine.executor().wait(
        engine.executor().submit(std::move(step)),
        [&](int64_t, std::span<const float> rows) { logits.assign(rows.begin(), rows.end()); });
    return logits;
}

TEST(Vulkan, reads_a_table_that_no_descriptor_reaches) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const Folder folder;
    const auto path = folder / "large.gguf";
    cli::write(cli::design("llama-1b:Q4_0", 1, 0), path);
    const gguf::File file = gguf::File::open(path);
    const std::vector<float> expected = logits_on(file, "cpu"), found = logits_on(file, "vulkan0");
    // The CPU rounds activations to 8 bits.
    EXPECT_LE(nmse(found, expected), 1e-3);
}

}  // namespace
}  // namespace tandem::test
