// Trained models under every split mode: how well they predict real text, and that no mapping
// changes it. The bundled model is held to its own figures; larger ones, whose rows of quantised
// blocks can be cut and whose experts a router really chooses, to one device.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "data.h"
#include "kernels/vulkan.h"
#include "model/tokenizer/tokenizer.h"
#include "models/executor_on.h"
#include "models/golden.h"
#include "models/mapping.h"
#include "models/perplexity.h"

namespace tandem::test {
namespace {

cli::EngineOptions options_of(const char* device, const Mapping& mapping, int64_t context) {
    cli::EngineOptions options;
    options.devices.assign(mapping.devices, device);
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.model.context = options.plan.context = context;
    options.plan.mode = mapping.mode;
    options.plan.ratio = mapping.ratio;
    return options;
}

double perplexity(const gguf::File& file, const char* device, const Mapping& mapping,
                  std::span<const int32_t> tokens, int64_t length, int64_t count) {
    return test::perplexity(file, options_of(device, mapping, length), tokens, length, count);
}

// The figure of scripts/check_tiny_model.py, which shares no code with the engine.
TEST(BundledModel, predicts_stories_that_it_has_not_seen) {
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const auto known = nlohmann::json::parse(read_text(data("stories/stories.tokens.json")));
    const int64_t length = known["context"], windows = known["windows"];
    const double expected = known["perplexity"];
    std::string text = read_text(data("stories/stories-heldout.txt"));
    if (text.ends_with('\n')) text.pop_back();
    const std::vector<int32_t> tokens = tokenizer.encode(text, {.parse_special = false});
    EXPECT_EQ(int64_t(tokens.size()) / length, windows);
    EXPECT_LT(expected, 1.25);
    const auto relative = [&](const char* device, const Mapping& mapping) {
        return perplexity(file, device, mapping, tokens, length, windows) / expected;
    };
    EXPECT_NEAR(relative("reference", {"none", 1, {}}), 1, 1e-6);
    // Where tokens become codes of 8 bits, a last bit that a cut changes turns some of them.
    for (const Mapping& mapping :
         {Mapping{"none", 1, {}}, Mapping{"layer", 2, {}}, Mapping{"tensor", 2, {}},
          Mapping{"tensor", 3, {}}, Mapping{"graph", 2, {3, 1}}})
        EXPECT_NEAR(relative("cpu", mapping), 1, 1e-4) << to_string(mapping);
}

TEST(BundledModel, tokenizes_and_continues_as_it_was_trained) {
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const auto known = nlohmann::json::parse(read_text(data("stories/stories.tokens.json")));
    const std::vector<int32_t> prompt = known["prompt_ids"], greedy = known["greedy_ids"];
    EXPECT_EQ(tokenizer.encode(known["prompt"].get<std::string>()), prompt);
    const int steps = int(greedy.size());
    for (const char* mode : {"none", "layer", "tensor", "graph"}) {
        const auto options =
            options_of("reference", {mode, 2, {1, 1}}, int64_t(prompt.size()) + steps);
        EXPECT_EQ(evaluate(file, options, prompt, steps).greedy, greedy) << mode;
    }
}

TEST(BundledModel, continues_on_vulkan_devices_as_it_was_trained) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const auto known = nlohmann::json::parse(read_text(data("stories/stories.tokens.json")));
    const std::vector<int32_t> prompt = known["prompt_ids"], greedy = known["greedy_ids"];
    const int steps = int(greedy.size());
    Devices devices;
    for (const char* mode : {"none", "layer", "tensor", "graph"}) {
        auto options = options_of("vulkan0", {mode, 2, {1, 1}}, int64_t(prompt.size()) + steps);
        options.plan.bucket = int64_t(prompt.size());
        const auto blueprint = cli::make_blueprint(file, options);
        const auto executor = executor_on(devices, file, *blueprint, options);
        EXPECT_EQ(evaluate(*executor, prompt, steps, options.plan.bucket).greedy, greedy) << mode;
    }
}

struct Trained {
    const char* model;
    const char* divided;  // the axis that all devices share, so that it is a cut that is tested
    std::vector<Mapping> mappings;
};

class TrainedModel : public ::testing::TestWithParam<Trained> {};

TEST_P(TrainedModel, is_the_same_however_it_is_divided) {
    const auto [name, divided, mappings] = GetParam();
    const auto path = shared("models/" + std::string(name) + ".gguf");
    const auto text = shared("texts/tinystories-sample.txt");
    if (!std::filesystem::exists(path) || !std::filesystem::exists(text))
        GTEST_SKIP() << "needs " << path << " of the full data set";
    const gguf::File file = gguf::File::open(path);
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    constexpr int64_t length = 128, windows = 32;
    const std::vector<int32_t> tokens =
        tokenizer.encode(read_text(text).substr(0, 40000), {.parse_special = false});
    ASSERT_GE(int64_t(tokens.size()), length * windows);
    const std::vector<int32_t> prompt(tokens.begin(), tokens.begin() + length);

    const Mapping one{"none", 1, {}};
    const auto alone = evaluate(file, options_of("cpu", one, length), prompt, 0);
    const double expected = perplexity(file, "cpu", one, tokens, length, windows);
    for (const Mapping& mapping : mappings) {
        SCOPED_TRACE(to_string(mapping));
        const auto options = options_of("cpu", mapping, length);
        const auto blueprint = cli::make_blueprint(file, options);
        std::set<std::string> shared_by_all;
        for (const parallel::Partition& partition : blueprint->plan.partitions)
            if (std::is_sorted(partition.bounds.begin(), partition.bounds.end(),
                               std::less_equal<>()))
                shared_by_all.emplace(role(partition.axis));
        EXPECT_TRUE(shared_by_all.contains(divided)) << ::testing::PrintToString(shared_by_all);
        EXPECT_LE(nmse(evaluate(file, options, prompt, 0).logits, alone.logits), 1e-3);
        EXPECT_NEAR(perplexity(file, "cpu", mapping, tokens, length, windows) / expected, 1, 0.005);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, TrainedModel,
    ::testing::Values(
        Trained{
            "stories-wide-Q4_K_M",
            "ffn",
            {{"tensor", 2, {}}, {"tensor", 3, {}}, {"graph", 2, {1, 1}}, {"graph", 3, {1, 1, 1}}}},
        Trained{"stories-moe-Q4_K_M", "experts", {{"tensor", 2, {}}, {"graph", 2, {1, 1}}}}),
    [](const auto& info) { return name_of(info.param.model); });

}  // namespace
}  // namespace tandem::test
