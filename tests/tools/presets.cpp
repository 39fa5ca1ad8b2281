// Every preset: from its metadata alone a plan is made, and a small model of each family runs, of
// those with models of both kinds one with experts, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/bench/measurement.h"
#include "cli/engine.h"
#include "cli/synth/family.h"
#include "cli/synth/model.h"
#include "gguf/folder.h"
#include "gguf/vectors.h"
#include "gguf/writer.h"

namespace tandem::cli {
namespace {

int64_t parameters(const std::string& what) {
    int64_t sum = 0;
    for (const gguf::TensorInfo& tensor : design(what, 0, 0).tensors) sum += tensor.elements();
    return sum;
}

parallel::DeviceTable two_devices() {
    parallel::DeviceTable table;
    for (const char* name : {"a", "b"})
        table.devices.push_back({.name = name,
                                 .free_bytes = int64_t(1) << 40,
                                 .bytes_per_second = 1e10,
                                 .multiply_adds_per_second = 1e11});
    table.links.assign(2, std::vector<parallel::Link>(2, {1e-5, 1e10}));
    return table;
}

TEST(Presets, families_have_the_published_numbers_of_parameters) {
    // In thousands of millions, from the models' cards; the embedding counts once where it is tied.
    const std::pair<const char*, double> published[] = {
        {"qwen2.5-7b", 7.62},          {"qwen3-32b", 32.8},
        {"qwen3-30b-a3b", 30.5},       {"qwen3-next-80b", 79.7},
        {"qwen3.5-27b", 26.9},         {"qwen3.5-35b-a3b", 34.7},
        {"qwen3.5-397b-a17b", 396.3},  {"gpt-oss-20b", 20.9},
        {"gpt-oss-120b", 116.8},       {"glm4-9b", 9.4},
        {"glm-4.5-air", 106.9},        {"glm-4.5", 352.8},
        {"gemma3-27b", 27.0},          {"gemma4-26b-a4b", 25.2},
        {"gemma4-31b", 30.7},          {"deepseek-v2-lite", 15.7},
        {"deepseek-v3", 671.0},        {"kimi-k2", 1026},
        {"kimi-linear-48b-a3b", 49.1}, {"ministral-3-8b", 8.5}};
    for (const auto& [name, billions] : published)
        EXPECT_NEAR(double(parameters(std::string(name) + ":F16")) / 1e9, billions,
                    0.003 * billions)
            << name;
}

TEST(Presets, a_plan_is_made_of_each) {
    const test::Folder folder;
    write_device_table(folder / "table.json", two_devices());
    for (const Preset* preset : presets()) {
        SCOPED_TRACE(preset->name);
        const SyntheticModel model = design(*preset, find_recipe("Q4_K_M"), 0, 0);
        gguf::Writer(folder / "x.gguf", model.metadata, model.tensors).finish(true);
        const gguf::File file = gguf::File::open(folder / "x.gguf", gguf::Content::Directory);
        EXPECT_EQ(size_class(file.metadata()), preset->size);
        EngineOptions options{
            .devices = {}, .plan = {.mode = "tensor"}, .device_table = folder / "table.json"};
        options.model.context = options.plan.context = 512;
        const auto planned = make_blueprint(file, options);
        EXPECT_EQ(planned->programs.size(), 2u);
    }
}

constexpr int64_t context = 256;

// The same kind of model, with few and small parts.
Preset shrunk(Preset preset) {
    auto shrink = [](int64_t& extent, int64_t most) { extent = std::min(extent, most); };
    shrink(preset.blocks, 8);
    shrink(preset.embd, 64);
    shrink(preset.heads, 4);
    shrink(preset.kv_heads, 2);
    shrink(preset.head_size, 32);
    for (int64_t* width : {&preset.ffn, &preset.experts.width, &preset.experts.shared,
                           &preset.cacheless_ffn, &preset.latent.queries, &preset.latent.keys})
        shrink(*width, 64);
    shrink(preset.experts.count, 16);
    shrink(preset.experts.used, 2);
    shrink(preset.window.tokens, 4);
    shrink(preset.window.full_kv_heads, 1);
    shrink(preset.cacheless, 2);
    preset.vocab = 400;
    preset.vocabulary = Vocabulary::Spm;
    return preset;
}

// Answers to a text as long as the context are numbers: states that grow would not stay such.
void expect_numbers(parallel::Executor& executor) {
    const std::vector<int32_t> text{3, 14, 15, 92, 65, 35, 89, 79};
    for (int32_t position = 0; position < context; position += int32_t(text.size())) {
        graph::StepInputs inputs;
        inputs.append(0, position, text);
        inputs.rows = {int32_t(text.size()) - 1};
        executor.wait(executor.submit(std::move(inputs)), [](int64_t, auto logits) {
            EXPECT_TRUE(std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }));
        });
    }
}

void expect_runs(const Preset& preset, const char* type, const test::Folder& folder) {
    write(design(shrunk(preset), find_recipe(type), 0, 1), folder / "x.gguf");
    const gguf::File file = gguf::File::open(folder / "x.gguf");
    EngineOptions options{.devices = {"cpu"}};
    options.model.context = options.plan.context = context;
    options.plan.bucket = 8;
    Engine engine(file, options);
    Subject subject{engine.executor(), first_token(file.metadata())};
    std::vector<int64_t> times;
    measure(
        subject, {.prompt = 8, .generated = 2}, {.repetitions = 1, .warmup = false},
        [](const std::string&) {}, times);
    EXPECT_EQ(times.size(), 1u);
    expect_numbers(engine.executor());
}

// The first one of each family, and where that has no experts the first one that has.
std::vector<const Preset*> kinds_of_models() {
    std::vector<const Preset*> kinds;
    for (const synth::Family* family : synth::families_table()) {
        kinds.push_back(&family->presets.front());
        const auto has_experts = [](const Preset& preset) { return preset.experts.count > 0; };
        const auto first =
            std::find_if(family->presets.begin(), family->presets.end(), has_experts);
        if (first != family->presets.begin() && first != family->presets.end())
            kinds.push_back(&*first);
    }
    return kinds;
}

TEST(Presets, a_small_model_of_each_family_runs) {
    const test::Folder folder;
    for (const Preset* preset : kinds_of_models()) {
        SCOPED_TRACE(preset->name);
        for (const char* type : {"Q8_0", "MXFP4"}) expect_runs(*preset, type, folder);
    }
}

TEST(Presets, experts_alone_are_mxfp4) {
    auto type_of = [](const char* what, std::string_view name) {
        for (const gguf::TensorInfo& tensor : design(what, 1, 0).tensors)
            if (tensor.name == name) return gguf::name(tensor.dtype);
        return std::string_view();
    };
    EXPECT_EQ(type_of("gpt-oss-20b:MXFP4", "blk.0.ffn_up_exps.weight"), "MXFP4");
    EXPECT_EQ(type_of("gpt-oss-20b:MXFP4", "blk.0.ffn_gate_inp.weight"), "F32");
    EXPECT_EQ(type_of("gpt-oss-20b:MXFP4", "blk.0.attn_q.weight"), "Q8_0");
    EXPECT_EQ(type_of("gpt-oss-20b:MXFP4", "output.weight"), "Q8_0");
    EXPECT_EQ(type_of("llama-1b:MXFP4", "blk.0.attn_q.weight"), "MXFP4");
}

}  // namespace
}  // namespace tandem::cli
