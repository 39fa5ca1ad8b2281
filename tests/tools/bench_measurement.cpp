// What a test runs, and what its limit is.
#include <gtest/gtest.h>

#include "cli/bench/measurement.h"
#include "cli/bench/source.h"
#include "cli/interrupts.h"
#include "gguf/writer.h"
#include "tools/tiny.h"

namespace tandem::cli {
namespace {

TEST(Measurement, follows_the_rules) {
    const test::Folder folder;
    const gguf::File file = test::make_tiny(folder);
    EngineOptions options{.devices = {"reference", "reference"}};
    options.model.context = options.plan.context = 27;
    options.plan.bucket = 8;
    Engine engine(file, options);
    std::vector<std::string> said;
    const Case test{.batch = 6, .step = 4, .prompt = 10, .generated = 2, .depth = 12};
    Subject subject{engine.executor(), first_token(file.metadata())};
    std::vector<int64_t> times;
    auto say = [&](const std::string& what) { said.push_back(what); };
    measure(subject, test, {.repetitions = 2}, say, times);
    EXPECT_EQ(times.size(), 2u);
    for (int64_t time : times) EXPECT_GT(time, 0);
    EXPECT_EQ(said, (std::vector<std::string>{"warmup prompt run", "warmup generation run",
                                              "depth run 1/2", "prompt run 1/2",
                                              "generation run 1/2", "depth run 2/2 (cached)",
                                              "prompt run 2/2", "generation run 2/2"}));
    said.clear();
    EXPECT_EQ(subject.cached, 24);
    measure(subject, {.prompt = 3, .depth = 24}, {.repetitions = 1, .warmup = false}, say, times);
    EXPECT_EQ(said, (std::vector<std::string>{"depth run 1/1 (cached)", "prompt run 1/1"}));
    said.clear();
    Subject other{engine.executor()};
    measure(other, {.prompt = 3}, {.repetitions = 1, .warmup = false}, say, times);
    EXPECT_EQ(said, (std::vector<std::string>{"prompt run 1/1"}));
    EXPECT_EQ(times.size(), 4u);
}

TEST(Measurement, limits_are_bytes_or_products) {
    const parallel::DeviceWork work{
        .body = {.bytes = 1000,
                 .multiply_adds = 2000,
                 .cached_bytes = 10,
                 .cached_multiply_adds = 20},
        .head = {.bytes = 100, .multiply_adds = 200, .cached_bytes = 1, .cached_multiply_adds = 2}};
    const kernels::Limits slow_memory{.bytes_per_second = 1, .multiply_adds_per_second = 1e9};
    auto seconds = [&](const kernels::Limits& limits, const Case& test) {
        return least_seconds(work, limits, test).seconds;
    };
    const kernels::Limits slow_sums{.bytes_per_second = 1e9, .multiply_adds_per_second = 1};
    // Three tokens, with 8, 9 and 10 before them.
    EXPECT_DOUBLE_EQ(seconds(slow_memory, {.generated = 3, .depth = 8}),
                     3 * 1100 + 11 * (8 + 9 + 10));
    // The weights once, the head and the cache once.
    EXPECT_DOUBLE_EQ(seconds(slow_memory, {.prompt = 100, .depth = 8}), 1000 + 100 + 11 * 108);
    EXPECT_DOUBLE_EQ(seconds(slow_sums, {.prompt = 100, .depth = 8}),
                     100 * (2000 + 20 * (8 + 50)) + 200 + 2 * 108);
    // Both phases, one after the other; the prompt in two batches.
    EXPECT_DOUBLE_EQ(seconds(slow_sums, {.batch = 50, .prompt = 100, .generated = 1}),
                     100 * (2000 + 20 * 50) + 2 * 200 + 2 * (50 + 100) + 2200 + 22 * 100);
}

TEST(Measurement, floats_are_multiplied_at_a_rate_of_their_own) {
    const parallel::DeviceWork work{
        .body = {.bytes = 100, .multiply_adds = 1000, .float_multiply_adds = 400}};
    const kernels::Limits limits{.bytes_per_second = 100,
                                 .multiply_adds_per_second = 200,
                                 .float_multiply_adds_per_second = 50};
    const Least least = least_seconds(work, limits, {.generated = 2});
    EXPECT_DOUBLE_EQ(least.reading, 2 * 1);
    EXPECT_DOUBLE_EQ(least.multiplying, 2 * (600.0 / 200 + 400.0 / 50));
    EXPECT_DOUBLE_EQ(least.seconds, least.multiplying);
    EXPECT_DOUBLE_EQ(seconds_of(1000, 400, {.multiply_adds_per_second = 200}), 5);
}

TEST(Measurement, an_expert_chosen_twice_is_read_once) {
    parallel::Work work{.bytes = 100};
    work += {.bytes = 60, .expert_bytes = 60, .expert_share = 0.25};
    EXPECT_DOUBLE_EQ(work.bytes_of_step(1), 160);
    EXPECT_DOUBLE_EQ(work.bytes_of_step(2), 100 + 240 * (1 - 0.75 * 0.75));
    EXPECT_NEAR(work.bytes_of_step(1000), 100 + 240, 1e-6);
}

// 50 of 1000 bytes are of a window of 16 cells, 30 of a state.
TEST(Measurement, each_sequence_reads_its_states_and_as_much_of_windows_as_is_filled) {
    const parallel::DeviceWork work{
        .body = {.bytes = 1000,
                 .multiply_adds = 500,
                 .sequence_bytes = 80,
                 .windows = {.cells = 16, .bytes = 50, .multiply_adds = 160}}};
    const kernels::Limits slow_memory{.bytes_per_second = 1, .multiply_adds_per_second = 1e9};
    const kernels::Limits slow_sums{.bytes_per_second = 1e9, .multiply_adds_per_second = 1};
    auto seconds = [&](const kernels::Limits& limits, const Case& test) {
        return least_seconds(work, limits, test).seconds;
    };
    EXPECT_DOUBLE_EQ(seconds(slow_memory, {.generated = 4, .depth = 16}), 4 * 1000);
    // 2 cells on average, before 4 tokens.
    EXPECT_DOUBLE_EQ(seconds(slow_memory, {.generated = 4}), 4 * (950 + 50 * 2 / 16.0));
    EXPECT_DOUBLE_EQ(seconds(slow_sums, {.prompt = 4}), 4 * (340 + 160 * 2 / 16.0));
    // Half of the tokens find it full.
    EXPECT_DOUBLE_EQ(seconds(slow_sums, {.prompt = 32}), 32 * 340 + 16 * 160 * 0.5 + 16 * 160);
    EXPECT_DOUBLE_EQ(
        seconds(slow_memory, {.setup = {.sequences = 3}, .generated = 2, .depth = 100}),
        2 * (1000 + 2 * 80));
}

TEST(Source, a_synthetic_file_has_no_name) {
    Interrupts interrupts;
    const gguf::File file = open_synthetic("qwen3-0.6b:Q4_0", 1, interrupts);
    EXPECT_FALSE(std::filesystem::exists(file.path()));
    EXPECT_EQ(describe_model(file), "qwen3 ?B Q4_0");
    EXPECT_EQ(file.data(file.tensors()[0]).size(), size_t(file.tensors()[0].bytes()));
}

TEST(Source, models_without_a_file_type_are_guessed) {
    const test::Folder folder;
    SyntheticModel model = design("llama2-7b:F16", 1, 0);
    gguf::Metadata metadata;
    for (const auto& [key, value] : model.metadata.entries())
        if (key != "general.file_type") metadata.set(key, value);
    gguf::Writer(folder / "x.gguf", metadata, model.tensors).finish(true);
    EXPECT_EQ(describe_model(gguf::File::open(folder / "x.gguf", gguf::Content::Directory)),
              "llama ?B (guessed) F16");
}

TEST(Measurement, texts_begin_as_the_file_says) {
    gguf::Metadata metadata;
    metadata.set_u32("tokenizer.ggml.bos_token_id", 7);
    EXPECT_EQ(first_token(metadata), -1);
    metadata.set_bool("tokenizer.ggml.add_bos_token", true);
    EXPECT_EQ(first_token(metadata), 7);
}

}  // namespace
}  // namespace tandem::cli
