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
#include "models/golden.h"
#include "models/perplexity.h"

namespace tandem::test {
namespace {

struct Mapping {
    const char* device;
    const char* mode;
    size_t devices;
    std::vector<double> ratio;
};

std::string to_string(const Mapping& mapping) {
    return std::to_string(mapping.devices) + " " + mapping.device + " -sm " + mapping.mode;
}

cli::EngineOptions options_of(const Mapping& mapping, int64_t context) {
    cli::EngineOptions options;
    options.devices.assign(mapping.devices, mapping.device);
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.model.context = options.plan.context = context;
    options.plan.mode = mapping.mode;
    options.plan.ratio = mapping.ratio;
    return options;
}

double perplexity(const gguf::File& file, const Mapping& mapping, std::span<const int32_t> tokens,
                  int64_t length, int64_t count) {
    return test::perplexity(file, options_of(mapping, length), tokens, length, count);
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
    for (const Mapping& mapping : {Mapping{"cpu", "none", 1, {}}, Mapping{"cpu", "layer", 2, {}},
                                   Mapping{"cpu", "tensor", 2, {}}, Mapping{"cpu", "tensor", 3, {}},
                                   Mapping{"cpu", "graph", 2, {3, 1}}})
        EXPECT_NEAR(perplexity(file, mapping, tokens, length, windows) / expected, 1, 1e-3)
            << to_string(mapping);
}

TEST(BundledModel, tokenizes_and_continues_as_it_was_trained) {
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const auto known = nlohmann::json::parse(read_text(data("stories/stories.tokens.json")));
    const std::vector<int32_t> prompt = known["prompt_ids"], greedy = known["greedy_ids"];
    EXPECT_EQ(tokenizer.encode(known["prompt"].get<std::string>()), prompt);
    const int steps = int(greedy.size());
    for (const char* mode : {"none", "layer", "tensor", "graph"}) {
        const Mapping mapping{"reference", mode, 2, {1, 1}};
        const auto options = options_of(mapping, int64_t(prompt.size()) + steps);
        EXPECT_EQ(evaluate(file, options, prompt, steps).greedy, greedy) << mode;
    }
}

TEST(BundledModel, continues_on_vulkan_devices_as_it_was_trained) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const auto known = nlohmann::json::parse(read_text(data("stories/stories.tokens.json")));
    const std::vector<int32_t> prompt = known["prompt_ids"], greedy = known["greedy_ids"];
    const int steps = int(greedy.size());
    for (const char* mode : {"none", "layer", "tensor", "graph"}) {
        const Mapping mapping{"vulkan0", mode, 2, {1, 1}};
        const auto options = options_of(mapping, int64_t(prompt.size()) + steps);
        EXPECT_EQ(evaluate(file, options, prompt, steps).greedy, greedy) << mode;
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

    const Mapping one{"cpu", "none", 1, {}};
    const auto alone = evaluate(file, options_of(one, length), prompt, 0);
    const double expected = perplexity(file, one, tokens, length, windows);
    for (const Mapping& mapping : mappings) {
        SCOPED_TRACE(to_string(mapping));
        const auto options = options_of(mapping, length);
        const auto blueprint = cli::make_blueprint(file, options);
        std::set<std::string> shared_by_all;
        for (const parallel::Partition& partition : blueprint->plan.partitions)
            if (std::is_sorted(partition.bounds.begin(), partition.bounds.end(),
                               std::less_equal<>()))
                shared_by_all.emplace(role(partition.axis));
        EXPECT_TRUE(shared_by_all.contains(divided)) << ::testing::PrintToString(shared_by_all);
        EXPECT_LE(nmse(evaluate(file, options, prompt, 0).logits, alone.logits), 1e-3);
        EXPECT_NEAR(perplexity(file, mapping, tokens, length, windows) / expected, 1, 0.005);
    }
}

INSTANTIATE_TEST_SUITE_P(Shared, TrainedModel,
                         ::testing::Values(Trained{"stories-wide-Q4_K_M",
                                                   "ffn",
                                                   {{"cpu", "tensor", 2, {}},
                                                    {"cpu", "tensor", 3, {}},
                                                    {"cpu", "graph", 2, {1, 1}},
                                                    {"cpu", "graph", 3, {1, 1, 1}}}},
                                           Trained{"stories-moe-Q4_K_M",
                                                   "experts",
                                                   {{"cpu", "tensor", 2, {}},
                                                    {"cpu", "graph", 2, {1, 1}}}}),
                         [](const auto& info) {
                             std::string name = info.param.model;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace tandem::test
