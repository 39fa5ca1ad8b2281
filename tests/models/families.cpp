// What holds of whole families beyond their goldens: names that say the same, and memory that long
// texts do not fill.
#include <gtest/gtest.h>

#include <algorithm>

#include "data.h"
#include "gguf/folder.h"
#include "gguf/writer.h"
#include "models/golden.h"
#include "models/rewrite.h"
#include "random.h"

namespace tandem::test {
namespace {

gguf::File fixture(const std::string& name) {
    return gguf::File::open(test::data("fixtures/" + name + ".gguf"));
}

// One reference device, and caches that round nothing.
cli::EngineOptions exact_options() {
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.devices = {"reference"};
    return options;
}

void expect_the_same(const gguf::File& one, const gguf::File& other, const Golden& golden) {
    EXPECT_EQ(evaluate(one, exact_options(), golden.tokens, 0).logits,
              evaluate(other, exact_options(), golden.tokens, 0).logits);
}

// The same tensors and keys under the name of another architecture.
gguf::Metadata renamed(const gguf::Metadata& metadata, const std::string& from,
                       const std::string& to) {
    gguf::Metadata result;
    for (auto [key, value] : metadata.entries())
        result.set(key.starts_with(from + ".") ? to + key.substr(from.size()) : key, value);
    result.set_string("general.architecture", to);
    return result;
}

// Queries grow beyond the trained context only, which the fixture's prompt does not reach.
TEST(Families, mistral3_is_llama_by_another_name) {
    Golden golden = read_golden(test::data("fixtures"), "llama-yarn-bf16");
    gguf::File file = fixture("llama-yarn-bf16");
    gguf::Metadata metadata = renamed(file.metadata(), "llama", "mistral3");
    metadata.set_f32("mistral3.attention.temperature_scale", 0.1f);
    Folder folder;
    gguf::File other = gguf::File::open(write(folder / "m.gguf", metadata, read_all(file)));
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.plan.mode = "tensor";
    for (size_t devices : {1, 3}) {
        options.devices.assign(devices, "reference");
        EXPECT_LE(nmse(evaluate(other, options, golden.tokens, 0).logits, golden.logits), 1e-9);
    }
    metadata.set_u32("mistral3.rope.scaling.original_context_length", 16);
    gguf::File tempered = gguf::File::open(write(folder / "t.gguf", metadata, read_all(file)));
    EXPECT_GT(nmse(evaluate(tempered, options, golden.tokens, 0).logits, golden.logits), 1e-3);
}

// The multiplier is one of YaRN's numbers.
TEST(Families, other_scalings_have_no_multiplier) {
    Golden golden = read_golden(test::data("fixtures"), "llama-yarn-bf16");
    gguf::File file = fixture("llama-yarn-bf16");
    gguf::Metadata metadata = renamed(file.metadata(), "llama", "mistral3");
    metadata.set_string("mistral3.rope.scaling.type", "linear");
    Folder folder;
    cli::EngineOptions options;
    options.devices = {"reference"};
    auto logits = [&](const std::string& name) {
        gguf::File other = gguf::File::open(write(folder / name, metadata, read_all(file)));
        return evaluate(other, options, golden.tokens, 0).logits;
    };
    const auto without = logits("without.gguf");
    metadata.set_f32("mistral3.rope.scaling.yarn_log_multiplier", 1);
    EXPECT_EQ(logits("with.gguf"), without);
}

std::vector<float> numbers(const Stored& tensor) {
    std::vector<float> values(size_t(tensor.info.elements()));
    decode_row(tensor.info.dtype, tensor.bytes.data(), values);
    return values;
}

// attn_k_b and attn_v_b put together again, as files had them before the two were split: for each
// head the rows of its keys, which attn_k_b has as columns, then those of its values. `keep`: the
// two stay beside it.
std::vector<Stored> unsplit(const std::vector<Stored>& tensors, bool keep = false) {
    std::vector<Stored> result;
    for (const Stored& tensor : tensors) {
        size_t at = tensor.info.name.find("attn_k_b.");
        if (!keep && tensor.info.name.find("attn_v_b.") != std::string::npos) continue;
        result.push_back(tensor);
        if (at == std::string::npos) continue;
        if (keep) result.push_back(tensor);
        std::string other = tensor.info.name;
        other.replace(at, 9, "attn_v_b.");
        std::vector<float> keys = numbers(tensor), values, both;
        for (const Stored& candidate : tensors)
            if (candidate.info.name == other) values = numbers(candidate);
        const int64_t plain = tensor.info.extents[0], latent = tensor.info.extents[1],
                      heads = tensor.info.extents[2],
                      value = int64_t(values.size()) / heads / latent;
        for (int64_t h = 0; h < heads; ++h) {
            for (int64_t row = 0; row < plain; ++row)
                for (int64_t c = 0; c < latent; ++c)
                    both.push_back(keys[size_t((h * latent + c) * plain + row)]);
            for (int64_t i = 0; i < value * latent; ++i)
                both.push_back(values[size_t(h * value * latent + i)]);
        }
        Stored& whole = result.back();
        whole.info.name.replace(at, 9, "attn_kv_b.");
        whole.info.dtype = gguf::DType::F32;
        whole.info.dims = 2;
        whole.info.extents = {latent, heads * (plain + value), 1, 1};
        auto bytes = std::as_bytes(std::span(both));
        whole.bytes = {bytes.begin(), bytes.end()};
    }
    return result;
}

TEST(Families, latent_attention_of_old_files) {
    Golden golden = read_golden(test::data("fixtures"), "deepseek2-lite");
    gguf::File file = fixture("deepseek2-lite");
    gguf::Metadata metadata;
    const std::string attention = "deepseek2.attention.";
    for (const auto& [key, value] : file.metadata().entries())
        if (!key.ends_with("_length_mla")) metadata.set(key, value);
    auto number = [&](const std::string& key) {
        return uint32_t(*file.metadata().integer(attention + key));
    };
    metadata.set_u32(attention + "key_length", number("key_length_mla"));
    metadata.set_u32(attention + "value_length", number("value_length_mla"));
    metadata.set_u32(attention + "head_count_kv", number("head_count"));
    Folder folder;
    gguf::File old = gguf::File::open(write(folder / "o.gguf", metadata, unsplit(read_all(file))));
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    for (const char* mode : {"layer", "tensor"})
        for (size_t devices : {1, 3}) {
            options.plan.mode = mode;
            options.devices.assign(devices, "reference");
            EXPECT_LE(nmse(evaluate(old, options, golden.tokens, 0).logits, golden.logits), 1e-9)
                << mode << " on " << devices;
        }
}

// Files for other engines have the whole and its parts.
TEST(Families, latent_attention_in_parts_beside_the_whole) {
    Golden golden = read_golden(test::data("fixtures"), "deepseek2-lite");
    gguf::File file = fixture("deepseek2-lite");
    Folder folder;
    gguf::File both = gguf::File::open(
        write(folder / "both.gguf", file.metadata(), unsplit(read_all(file), true)));
    EXPECT_TRUE(both.find("blk.0.attn_kv_b.weight") && both.find("blk.0.attn_k_b.weight"));
    expect_the_same(both, file, golden);
}

TEST(Families, gemma3_with_the_keys_of_another_converter) {
    Golden golden = read_golden(test::data("fixtures"), "gemma3");
    gguf::File file = fixture("gemma3");
    gguf::Metadata metadata;
    int renamed = 0;
    for (const auto& [key, value] : file.metadata().entries()) {
        const bool of_window = key == "gemma3.rope.freq_base_swa";
        const bool moved = of_window || key == "gemma3.rope.freq_base";
        renamed += moved;
        metadata.set(!moved      ? key
                     : of_window ? "gemma3.rope.local.freq_base"
                                 : "gemma3.rope.global.freq_base",
                     value);
    }
    EXPECT_GE(renamed, 1);
    Folder folder;
    gguf::File other = gguf::File::open(write(folder / "o.gguf", metadata, read_all(file)));
    expect_the_same(other, file, golden);
}

TEST(Families, blocks_with_a_window_may_have_a_rotary_base) {
    Golden golden = read_golden(test::data("fixtures"), "gpt-oss-mxfp4");
    gguf::File file = fixture("gpt-oss-mxfp4");
    gguf::Metadata metadata = file.metadata();
    Folder folder;
    const cli::EngineOptions options = exact_options();
    auto base = float(*metadata.real("gpt-oss.rope.freq_base"));
    auto error_with = [&](const std::string& name, float windowed) {
        metadata.set_f32("gpt-oss.rope.freq_base_swa", windowed);
        gguf::File other = gguf::File::open(write(folder / name, metadata, read_all(file)));
        return nmse(evaluate(other, options, golden.tokens, 0).logits, golden.logits);
    };
    EXPECT_LE(error_with("same.gguf", base), 1e-9);
    EXPECT_GT(error_with("other.gguf", base / 100), 1e-3);
}

// Where YaRN begins and ends follows from the base, too: blocks that all have a window are as ones
// of a model with that base.
TEST(Families, a_base_of_their_own_has_its_own_yarn) {
    Golden golden = read_golden(test::data("fixtures"), "gpt-oss-mxfp4");
    gguf::File file = fixture("gpt-oss-mxfp4");
    gguf::Metadata metadata = file.metadata();
    metadata.set_u32("gpt-oss.attention.sliding_window_pattern", 0);
    metadata.set_u32("gpt-oss.attention.sliding_window", 64);
    metadata.set_string("gpt-oss.rope.scaling.type", "yarn");
    metadata.set_u32("gpt-oss.rope.scaling.original_context_length", 512);
    Folder folder;
    cli::EngineOptions options;
    options.devices = {"reference"};
    auto logits = [&](const std::string& name, float base) {
        metadata.set_f32("gpt-oss.rope.freq_base", base);
        gguf::File other = gguf::File::open(write(folder / name, metadata, read_all(file)));
        return evaluate(other, options, golden.tokens, 0).logits;
    };
    const auto all = logits("all.gguf", 1e4f);
    EXPECT_NE(logits("other.gguf", 1e6f), all);
    metadata.set_f32("gpt-oss.rope.freq_base_swa", 1e4f);
    EXPECT_EQ(logits("windowed.gguf", 1e6f), all);
}

// Files made before there was a key for it leave out how GLM-4.7-Flash scores experts.
TEST(Families, glm_flash_scores_by_sigmoids_without_a_key) {
    gguf::File file = fixture("deepseek2-lite");
    ASSERT_FALSE(file.metadata().integer("deepseek2.expert_gating_func"));
    auto sigmoids = [&](int64_t vocab, uint32_t blocks) {
        gguf::Metadata metadata = file.metadata();
        metadata.set_u32("deepseek2.block_count", blocks);
        std::vector<gguf::TensorInfo> tensors;
        for (gguf::TensorInfo tensor : file.tensors()) {
            if (tensor.name == "token_embd.weight" || tensor.name == "output.weight")
                tensor.extents[1] = vocab;
            tensors.push_back(tensor);
            if (!tensor.name.starts_with("blk.1.")) continue;
            for (uint32_t block = 2; block < blocks; ++block) {
                tensor.name.replace(0, tensor.name.find('.', 4), "blk." + std::to_string(block));
                if (!file.find(tensor.name)) tensors.push_back(tensor);
            }
        }
        Folder folder;
        const auto path = folder / "flash.gguf";
        gguf::Writer(path, metadata, tensors).finish(true);
        auto graph = model::build(gguf::File::open(path, gguf::Content::Directory), {});
        return std::ranges::count_if(
            graph->nodes(), [](const graph::Node& node) { return node.op->name == "sigmoid"; });
    };
    EXPECT_EQ(sigmoids(154880, 47), 46);
    EXPECT_EQ(sigmoids(154880, 48), 47);
    EXPECT_EQ(sigmoids(154880, 46), 0);
    EXPECT_EQ(sigmoids(102400, 47), 0);
}

int64_t bounded_state_bytes(const gguf::File& file, int64_t context) {
    auto graph = model::build(file, {.context = context, .step = 32});
    int64_t bytes = 0;
    for (const graph::Value& value : graph->values()) {
        bool grows = false;
        for (graph::Axis axis : value.shape) grows = grows || role(axis) == "cells";
        if (value.kind == graph::Kind::State && !grows) bytes += elements(value.shape);
    }
    return bytes;
}

// A fixture whose tokens take every expert: rounding may choose between two that score alike.
gguf::File with_all_experts(const std::string& name, const Folder& folder) {
    gguf::File file = fixture(name);
    gguf::Metadata metadata = file.metadata();
    const std::string arch(metadata.text("general.architecture").value());
    if (auto experts = metadata.integer(arch + ".expert_count"))
        metadata.set_u32(arch + ".expert_used_count", uint32_t(*experts));
    return gguf::File::open(write(folder / "all.gguf", metadata, read_all(file)));
}

class LongTexts : public ::testing::TestWithParam<const char*> {};

// In many small steps, which go round the rings of windows, as in one.
TEST_P(LongTexts, are_the_same_in_small_steps) {
    Folder folder;
    gguf::File file = with_all_experts(GetParam(), folder);
    int64_t bounded = bounded_state_bytes(file, 2048);
    EXPECT_GT(bounded, 0);
    EXPECT_EQ(bounded, bounded_state_bytes(file, 65536));
    Random random(11);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 2000; ++i) tokens.push_back(int32_t(random.below(512)));
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.devices = {"cpu"};
    auto whole = evaluate(file, options, tokens, 0, 2000).logits;
    auto steps = evaluate(file, options, tokens, 0, 32).logits;
    EXPECT_LE(nmse(steps, whole), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, LongTexts,
                         ::testing::Values("qwen3next", "qwen35-lin128", "gemma3", "gemma4-dense",
                                           "kimi-linear"),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace tandem::test
