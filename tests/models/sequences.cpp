// Several sequences in one step, each in a cache of its own, some with tokens cached already.
#include <gtest/gtest.h>

#include "data.h"
#include "kernels/vulkan.h"
#include "models/executor_on.h"
#include "models/golden.h"

namespace tandem::test {
namespace {

struct Piece {
    int32_t slot;
    size_t begin, end;  // of the fixture's prompt
};

// Evaluates the pieces of a step; gives all their logits, piece after piece.
std::vector<float> step(parallel::Executor& executor, const std::vector<int32_t>& tokens,
                        const std::vector<Piece>& pieces) {
    graph::StepInputs inputs;
    for (const Piece& piece : pieces)
        inputs.append(piece.slot, int32_t(piece.begin),
                      std::span(tokens).subspan(piece.begin, piece.end - piece.begin));
    for (int32_t row = 0; row < int32_t(inputs.tokens()); ++row) inputs.rows.push_back(row);
    std::vector<float> logits;
    executor.wait(executor.submit(std::move(inputs)),
                  [&](int64_t first, std::span<const float> rows) {
                      EXPECT_EQ(first * executor.vocab(), int64_t(logits.size()));
                      logits.insert(logits.end(), rows.begin(), rows.end());
                  });
    return logits;
}

std::vector<float> golden_rows(const Golden& golden, const std::vector<Piece>& pieces) {
    size_t vocab = golden.logits.size() / golden.tokens.size();
    std::vector<float> rows;
    for (const Piece& piece : pieces)
        rows.insert(rows.end(), golden.logits.begin() + int64_t(piece.begin * vocab),
                    golden.logits.begin() + int64_t(piece.end * vocab));
    return rows;
}

struct Mapping {
    const char* mode;
    std::vector<std::string> devices;
    double bound;
};

cli::EngineOptions options_of(const Mapping& mapping) {
    cli::EngineOptions options;
    options.model = {
        .context = 48, .slots = 3, .key_type = gguf::DType::F32, .value_type = gguf::DType::F32};
    options.devices = mapping.devices;
    options.plan = {.mode = mapping.mode, .bucket = 80};
    return options;
}

void expect_golden_rows(parallel::Executor& executor, const Golden& golden,
                        const Mapping& mapping) {
    // More rows than one run of the head takes; the second step goes on with a sequence.
    const std::vector<std::vector<Piece>> steps{
        {{2, 0, 20}, {0, 0, 40}, {1, 0, 1}}, {{1, 1, 30}, {2, 20, 48}}, {{0, 40, 48}}};
    for (const auto& pieces : steps)
        EXPECT_LE(nmse(step(executor, golden.tokens, pieces), golden_rows(golden, pieces)),
                  mapping.bound)
            << golden.model << " -sm " << mapping.mode << " on " << mapping.devices[0];
}

TEST(Sequences, share_a_step) {
    for (const char* name : {"llama-rope-factors", "qwen3moe", "qwen35-lin128", "kimi-linear"}) {
        Golden golden = read_golden(test::data("fixtures"), name);
        gguf::File file = gguf::File::open(golden.model);
        for (const Mapping& mapping :
             {Mapping{"none", {"reference"}, 1e-9},
              Mapping{"tensor", {"reference", "reference", "reference"}, 1e-9},
              Mapping{"layer", {"reference", "reference"}, 1e-9},
              Mapping{"tensor", {"cpu", "cpu"}, 1e-5}}) {
            cli::Engine engine(file, options_of(mapping));
            expect_golden_rows(engine.executor(), golden, mapping);
        }
    }
}

// Of attention, and of states that have no cells.
TEST(Sequences, share_a_step_on_vulkan_devices) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const Mapping mapping{"none", {"vulkan0"}, 1e-5};
    const cli::EngineOptions options = options_of(mapping);
    Devices devices;
    for (const char* name : {"llama-rope-factors", "qwen35-lin128"}) {
        const Golden golden = read_golden(test::data("fixtures"), name);
        const gguf::File file = gguf::File::open(golden.model);
        const auto blueprint = cli::make_blueprint(file, options);
        expect_golden_rows(*executor_on(devices, file, *blueprint, options), golden, mapping);
    }
}

}  // namespace
}  // namespace tandem::test
