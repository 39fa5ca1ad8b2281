// A model of each family under the validation layers, synchronization validation included: they
// have nothing to say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "cli/engine.h"
#include "data.h"
#include "kernels/vulkan/adapter.h"

namespace tandem::test {
namespace {

constexpr const char* layer = "VK_LAYER_KHRONOS_validation";

bool has_layer() {
    try {
        for (const vk::LayerProperties& known :
             vk::raii::Context().enumerateInstanceLayerProperties())
            if (std::strcmp(known.layerName, layer) == 0) return true;
    } catch (const std::exception&) {
        // There is no loader either.
    }
    return false;
}

// What the layers say goes to standard output. An error is something to say, too.
template <typename Action>
std::string said_of(const Action& action) {
    testing::internal::CaptureStdout();
    std::string error;
    try {
        action();
    } catch (const std::exception& fault) {
        error = fault.what();
    }
    return testing::internal::GetCapturedStdout() + error;
}

class Validation : public testing::Test {
  protected:
    void SetUp() override {
        if (kernels::vulkan_adapters().list.empty())
            GTEST_SKIP() << kernels::vulkan_adapters().absence;
        if (!has_layer()) GTEST_SKIP() << "needs vulkan-validationlayers";
        setenv("VK_INSTANCE_LAYERS", layer, 1);
        setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
               1);
    }
    void TearDown() override {
        unsetenv("VK_INSTANCE_LAYERS");
        unsetenv("VK_LAYER_ENABLES");
    }
};

// Two steps of several tokens, the second of which continues the first, then one of one token.
void evaluate(const std::string& fixture, const std::vector<std::string>& devices) {
    const gguf::File file = gguf::File::open(test::data("fixtures/" + fixture + ".gguf"));
    cli::EngineOptions options;
    options.devices = devices;
    options.plan.mode = "tensor";
    options.model.context = options.plan.context = 64;
    options.plan.bucket = 64;
    cli::Engine engine(file, options);
    for (auto [first, count] : {std::pair{0, 37}, {37, 3}, {40, 1}}) {
        std::vector<int32_t> tokens(size_t(count), 5 + first);
        graph::StepInputs step;
        step.append(0, first, tokens);
        step.rows = {count - 1};
        engine.executor().wait(engine.executor().submit(std::move(step)));
    }
}

class ValidationOf : public Validation, public testing::WithParamInterface<const char*> {};

TEST_P(ValidationOf, has_nothing_to_say) {
    EXPECT_EQ(said_of([] { evaluate(GetParam(), {"vulkan0"}); }), "");
    EXPECT_EQ(said_of([] { evaluate(GetParam(), {"vulkan0", "vulkan0", "cpu"}); }), "");
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ValidationOf,
                         testing::Values("llama-rope-factors", "llama-q-q4_k_m", "llama-moe",
                                         "qwen2", "qwen3-bf16", "qwen3moe", "qwen3moe-q-mxfp4",
                                         "qwen3next", "qwen35-lin128", "gpt-oss-mxfp4", "glm4",
                                         "glm4moe", "gemma3", "gemma4-dense", "gemma4-moe",
                                         "kimi-linear", "deepseek2-lite"),
                         [](const auto& info) { return name_of(info.param); });

// Else silence would mean nothing.
TEST_F(Validation, speaks_of_what_is_wrong) {
    EXPECT_NE(said_of([] {
                  using namespace kernels::vulkan;
                  const Drivers drivers = open_drivers();
                  const auto adapter = std::move(adapters_of(drivers.instance)[0]);
                  const vk::raii::Device device = make_device(adapter, facts_of(adapter));
                  const vk::raii::Buffer buffer(device, vk::BufferCreateInfo{.size = 0});
              }).find("VUID-VkBufferCreateInfo-size"),
              std::string::npos);
}

}  // namespace
}  // namespace tandem::test
