// Files that say what cannot be, or what would be left out of the answer: one line that says what
// is wrong and what would be right, before anything is loaded.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "data.h"
#include "gguf/error.h"
#include "gguf/folder.h"
#include "gguf/writer.h"
#include "model/architecture.h"

namespace tandem::test {
namespace {

using gguf::Metadata;
using gguf::TensorInfo;

// The directory of a fixture, to be changed.
class Refused : public ::testing::Test {
  protected:
    void start_from(const std::string& name) {
        gguf::File file = gguf::File::open(data("fixtures") / (name + ".gguf"));
        metadata = file.metadata();
        tensors = {file.tensors().begin(), file.tensors().end()};
    }
    TensorInfo& tensor(const std::string& name) {
        for (TensorInfo& known : tensors)
            if (known.name == name) return known;
        return tensors.emplace_back(TensorInfo{.name = name});
    }
    // What is said of the file, without its path; empty where it is accepted.
    std::string answer(const model::Options& options = {}) {
        gguf::Writer(path, metadata, tensors).finish(true);
        return answer_to(gguf::File::open(path, gguf::Content::Directory), options);
    }
    static std::string answer_to(const gguf::File& file, const model::Options& options = {}) {
        try {
            model::build(file, options);
        } catch (const Error& error) {
            std::string text = error.what(), front = file.path() + ": ";
            return text.starts_with(front) ? text.substr(front.size()) : text;
        }
        return "";
    }
    void set(const std::string& key, uint32_t value) { metadata.set_u32(key, value); }

    Folder folder;
    std::filesystem::path path = folder / "changed.gguf";
    Metadata metadata;
    std::vector<TensorInfo> tensors;
};

TEST_F(Refused, impossible_extents) {
    struct {
        const char* key;
        uint32_t value;
        const char* answer;
    } const cases[] = {
        {"llama.embedding_length", 0, "0, expected 1 to 2147483647"},
        {"llama.embedding_length", 1u << 31, "2147483648, expected 1 to 2147483647"},
        {"llama.feed_forward_length", 0, "0, expected 1 to 2147483647"},
        {"llama.attention.head_count", 0, "0, expected 1 to 2147483647"},
        {"llama.attention.head_count_kv", 0, "0, expected 1 to 2147483647"},
        {"llama.attention.key_length", 0, "0, expected 1 to 2147483647"},
        {"llama.attention.value_length", 0, "0, expected 1 to 2147483647"},
        {"llama.block_count", 0, "0, expected 1 to 512"},
        {"llama.rope.dimension_count", 0, "0, expected 1 to 2147483647"},
        {"llama.rope.dimension_count", 31, "31, expected an even number up to the head size 32"},
        {"llama.rope.dimension_count", 34, "34, expected an even number up to the head size 32"},
    };
    for (const auto& wrong : cases) {
        start_from("llama-rope-factors");
        ASSERT_EQ(answer(), "");
        set(wrong.key, wrong.value);
        EXPECT_EQ(answer(), "key " + std::string(wrong.key) + " is " + wrong.answer);
    }
    start_from("llama-rope-factors");
    set("llama.attention.head_count_kv", 3);
    EXPECT_EQ(answer(), "block 0 has 8 heads and 3 kv heads, expected a multiple");
}

TEST_F(Refused, keys_of_another_type) {
    start_from("llama-rope-factors");
    metadata.set_string("llama.embedding_length", "wide");
    EXPECT_EQ(answer(),
              "E_METADATA: key \"llama.embedding_length\" holds string \"wide\", expected an "
              "integer");
}

TEST_F(Refused, impossible_experts) {
    start_from("qwen3moe");
    ASSERT_EQ(answer(), "");
    set("qwen3moe.expert_used_count", 9);
    EXPECT_EQ(answer(),
              "key qwen3moe.expert_used_count is 9, expected 1 to 8 (the number of experts)");
    set("qwen3moe.expert_feed_forward_length", 0);
    set("qwen3moe.expert_used_count", 0);
    EXPECT_EQ(answer(),
              "key qwen3moe.expert_used_count is 0, expected 1 to 8 (the number of experts)");
    set("qwen3moe.expert_count", 0);
    set("qwen3moe.expert_feed_forward_length", 64);
    EXPECT_EQ(answer(), "key qwen3moe.expert_count is 0, expected 1 to 2147483647");
    start_from("qwen3moe");
    set("qwen3moe.expert_feed_forward_length", 0);
    set("qwen3moe.feed_forward_length", 1);
    EXPECT_EQ(answer(),
              "key qwen3moe.feed_forward_length is 1, which leaves nothing for each of 3 experts");
    for (std::string name : {"glm4moe", "kimi-linear"}) {
        start_from(name);
        const std::string key = name + ".expert_shared_count";
        metadata.set(key, {.type = gguf::ValueType::U64,
                           .elements = std::vector<uint64_t>{uint64_t(1) << 62}});
        EXPECT_EQ(answer(), "key " + key + " is 4611686018427387904, expected 0 to 33554431");
    }
}

TEST_F(Refused, numbers_that_are_none) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    struct {
        const char* key;
        float value;
        const char* answer;
    } const cases[] = {
        {"llama.attention.layer_norm_rms_epsilon", none, "nan, expected a number from 0"},
        {"llama.attention.layer_norm_rms_epsilon", -1, "-1.000000, expected a number from 0"},
        {"llama.rope.freq_base", 0, "0.000000, expected a number above 0"},
        {"llama.rope.freq_base", none, "nan, expected a number above 0"},
        {"llama.rope.scaling.factor", none, "nan, expected a finite number"},
        {"llama.rope.scaling.factor", -4, "-4.000000, expected a number above 0"},
        {"llama.rope.scaling.attn_factor", 0, "0.000000, expected a number above 0"},
    };
    for (const auto& wrong : cases) {
        start_from("llama-rope-factors");
        metadata.set_f32(wrong.key, wrong.value);
        EXPECT_EQ(answer(), "key " + std::string(wrong.key) + " is " + wrong.answer);
    }
}

TEST_F(Refused, numbers_without_end) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    constexpr float endless = std::numeric_limits<float>::infinity();
    struct {
        const char *fixture, *key;
        float value;
        const char* answer;
    } const cases[] = {
        {"gemma4-dense", "gemma4.final_logit_softcapping", endless, "inf"},
        {"deepseek2-lite", "deepseek2.expert_weights_scale", none, "nan"},
        {"deepseek2-lite", "deepseek2.attention.temperature_scale", none, "nan"},
        {"deepseek2-lite", "deepseek2.rope.scaling.yarn_log_multiplier", -endless, "-inf"},
    };
    for (const auto& wrong : cases) {
        start_from(wrong.fixture);
        ASSERT_EQ(answer(), "");
        metadata.set_f32(wrong.key, wrong.value);
        EXPECT_EQ(answer(), "key " + std::string(wrong.key) + " is " + wrong.answer +
                                ", expected a finite number");
    }
}

// Text has one position, which stands for the first three of four.
TEST_F(Refused, pairs_of_a_fourth_dimension) {
    auto sections = [&](const std::string& key, std::vector<int64_t> pairs) {
        const bool array = pairs.size() > 1;
        metadata.set(key,
                     {.type = gguf::ValueType::I32, .array = array, .elements = std::move(pairs)});
        return answer();
    };
    struct {
        const char *fixture, *key;
        std::vector<int64_t> pairs;
        int first;
    } const cases[] = {
        {"qwen35-lin128", "qwen35.rope.dimension_sections", {3, 3, 0, 2}, 2},
        {"qwen35-lin128", "qwen35.rope.dimension_sections", {2, 2, 2, 2}, 6},
        {"qwen35-lin128", "qwen35.rope.dimension_sections", {2}, 6},
        {"glm4", "glm4.rope.dimension_sections", {2, 2, 2, 1}, 6},
        {"glm4", "glm4.rope.dimension_sections", {1}, 3},
    };
    for (const auto& wrong : cases) {
        start_from(wrong.fixture);
        EXPECT_EQ(sections(wrong.key, wrong.pairs),
                  "key " + std::string(wrong.key) + " gives pair " + std::to_string(wrong.first) +
                      " to a fourth dimension, in which text has no positions");
    }
    start_from("qwen35-lin128");
    EXPECT_EQ(sections("qwen35.rope.dimension_sections", {11, 11, 10, 0}), "");
    EXPECT_EQ(sections("qwen35.rope.dimension_sections", {-1, 0, 0, 0}),
              "key qwen35.rope.dimension_sections has -1, expected 0 to 2147483647");
    start_from("glm4");
    EXPECT_EQ(sections("glm4.rope.dimension_sections", {8, 12, 12, 0}), "");
    // No sections, as far as GLM-4 is concerned.
    EXPECT_EQ(sections("glm4.rope.dimension_sections", {0, 0, 0, 2}), "");
}

TEST_F(Refused, ways_to_scale_positions) {
    start_from("qwen3moe");
    for (const char* known : {"none", "linear", "yarn", "longrope"}) {
        metadata.set_string("qwen3moe.rope.scaling.type", known);
        EXPECT_EQ(answer(), "") << known;
    }
    metadata.set_string("qwen3moe.rope.scaling.type", "dynamic");
    EXPECT_EQ(answer(),
              "key qwen3moe.rope.scaling.type is \"dynamic\", known are none, linear, yarn and "
              "longrope");
    metadata.set_string("qwen3moe.rope.scaling.type", "yarn");
    set("qwen3moe.rope.scaling.original_context_length", 0);
    EXPECT_EQ(answer(),
              "key qwen3moe.rope.scaling.original_context_length is 0, expected 1 to 2147483647");
}

TEST_F(Refused, tensors_that_nothing_reads) {
    std::string rest = " is not read by architecture llama: the answer would be wrong without it";
    for (const char* name : {"blk.0.attn_q_norm.weight", "blk.1.attn_sinks.weight",
                             "blk.0.ffn_gate_inp.bias", "rope_factors_long.weight"}) {
        start_from("llama-rope-factors");
        tensor(name);
        EXPECT_EQ(answer(), "tensor " + std::string(name) + rest);
    }
    start_from("llama-rope-factors");
    set("llama.block_count", 3);
    EXPECT_EQ(answer(), "tensor blk.3.attn_norm.weight" + rest);
    for (const char* name :
         {"v.blk.0.attn_q.weight", "mm.input_projection.weight", "mtp.fc.weight"}) {
        start_from("llama-rope-factors");
        tensor(name);
        EXPECT_EQ(answer(), "tensor " + std::string(name) +
                                " is not read by architecture llama: it is of a model of pictures, "
                                "of sounds or of drafts, which other files keep apart; take one of "
                                "these");
    }
}

TEST_F(Refused, but_not_tensors_that_no_answer_needs) {
    start_from("llama-rope-factors");
    tensor("blk.0.attn_q.input_scale");
    EXPECT_EQ(answer(), "");
    // One of the two sets suits the context.
    metadata.set_string("llama.rope.scaling.type", "longrope");
    TensorInfo factors = tensor("rope_freqs.weight");
    tensor("rope_freqs.weight").name = "rope_factors_long.weight";
    factors.name = "rope_factors_short.weight";
    tensors.push_back(factors);
    EXPECT_EQ(answer(), "");
}

// Factors are for blocks that see everything. What nothing reads is no weight of the graph.
TEST_F(Refused, but_not_factors_where_every_block_slides) {
    start_from("gemma4-dense");
    set("gemma4.block_count", 2);
    set("gemma4.attention.shared_kv_layers", 0);
    set("gemma4.embedding_length_per_layer_input", 0);
    set("gemma4.attention.sliding_window_pattern", 1);
    set("gemma4.feed_forward_length", 64);
    std::erase_if(tensors, [](const TensorInfo& tensor) {
        const std::string& name = tensor.name;
        return name.starts_with("per_layer_") || name.find(".inp_gate.") != name.npos ||
               name.find(".proj.") != name.npos || name.find(".post_norm.") != name.npos ||
               (name.starts_with("blk.") && !name.starts_with("blk.0.") &&
                !name.starts_with("blk.1."));
    });
    EXPECT_EQ(answer(), "");
    const auto graph = model::build(gguf::File::open(path, gguf::Content::Directory), {});
    for (size_t i = 0; i < graph->values().size(); ++i) {
        if (graph->value(int(i)).kind != graph::Kind::Weight) continue;
        EXPECT_FALSE(graph->readers(int(i)).empty()) << graph->value(int(i)).name;
    }
}

// The plain keys are for files that have no others.
TEST_F(Refused, but_not_latent_heads_without_the_plain_keys) {
    std::string front;
    auto leave_out = [&](const std::string& ending) {
        const Metadata all = metadata;
        metadata = {};
        for (const auto& [key, value] : all.entries())
            if (key != front + "key_length" + ending && key != front + "value_length" + ending)
                metadata.set(key, value);
    };
    for (std::string name : {"kimi-linear", "deepseek2-lite"}) {
        start_from(name);
        front = metadata.text("general.architecture").value() + ".attention.";
        leave_out("");
        EXPECT_EQ(answer(), "") << name;
        leave_out("_mla");
        EXPECT_TRUE(answer().starts_with("the required key " + front + "key_length is missing"))
            << answer();
    }
}

TEST_F(Refused, models_that_write_no_text) {
    start_from("llama-rope-factors");
    metadata.set_bool("llama.attention.causal", false);
    EXPECT_EQ(answer(),
              "key llama.attention.causal is false: the model makes embeddings and writes no text");
}

TEST_F(Refused, caches) {
    start_from("llama-rope-factors");
    model::Options options{.key_type = gguf::DType::Q8_0};
    EXPECT_EQ(answer(options), "");
    set("llama.attention.key_length", 16);
    set("llama.rope.dimension_count", 16);
    for (int i = 0; i < 4; ++i) {
        std::string block = "blk." + std::to_string(i) + ".";
        tensor(block + "attn_q.weight").extents[1] = 128;
        tensor(block + "attn_k.weight").extents[1] = 64;
    }
    tensor("rope_freqs.weight").extents[0] = 8;
    EXPECT_EQ(answer(), "") << "values have a size of their own";
    EXPECT_EQ(answer(options),
              "a cache of type Q8_0 needs heads of a multiple of 32 elements, these have 16; "
              "choose f16");
    options = {.context = int64_t(1) << 40};
    EXPECT_EQ(answer(options),
              "a context of 1099511627776 tokens is not possible; choose 1 to 2147483647");
}

TEST_F(Refused, shapes) {
    start_from("llama-rope-factors");
    tensor("blk.2.attn_output.weight").extents = {128, 256, 1, 1};
    EXPECT_EQ(answer(),
              "tensor blk.2.attn_output.weight is 128 x 256, expected rows of kv_heads 4, "
              "q_per_kv 2, d 32, 128 rows (embd 128)");
}

// What other architectures may do without, these may not.
TEST_F(Refused, missing_tensors) {
    const std::pair<const char*, const char*> missing[] = {
        {"glm4moe", "blk.1.exp_probs_b.bias"},
        {"kimi-linear", "blk.1.exp_probs_b.bias"},
        {"gpt-oss-mxfp4", "blk.0.attn_output.bias"},
        {"gpt-oss-mxfp4", "blk.3.ffn_down_exps.bias"},
        {"gpt-oss-mxfp4", "output.weight"},
        {"kimi-linear", "output.weight"},
        {"qwen3next", "blk.2.ffn_gate_inp_shexp.weight"},
        {"gemma4-dense", "rope_freqs.weight"}};
    for (const auto& [fixture, name] : missing) {
        start_from(fixture);
        ASSERT_EQ(answer(), "") << fixture;
        std::erase_if(tensors, [&](const TensorInfo& tensor) { return tensor.name == name; });
        EXPECT_EQ(answer(), "tensor " + std::string(name) + " is missing") << fixture;
    }
}

// The same elements in another order.
TEST_F(Refused, transposed_vectors) {
    start_from("qwen35-lin128");
    TensorInfo& kernel = tensor("blk.0.ssm_conv1d.weight");
    std::swap(kernel.extents[0], kernel.extents[1]);
    const std::string stored =
        std::to_string(kernel.extents[0]) + " x " + std::to_string(kernel.extents[1]);
    EXPECT_TRUE(answer().starts_with("tensor blk.0.ssm_conv1d.weight is " + stored + ", expected"))
        << answer();
    start_from("gpt-oss-mxfp4");
    TensorInfo& bias = tensor("blk.1.ffn_up_exps.bias");
    ASSERT_NE(bias.extents[0], bias.extents[1]);
    std::swap(bias.extents[0], bias.extents[1]);
    EXPECT_TRUE(answer().starts_with("tensor blk.1.ffn_up_exps.bias is ")) << answer();
}

TEST_F(Refused, convolutions_of_one_token) {
    start_from("kimi-linear");
    set("kimi-linear.ssm.conv_kernel", 1);
    for (TensorInfo& known : tensors)
        if (known.name.find("ssm_conv1d") != std::string::npos) known.extents[0] = 1;
    EXPECT_EQ(answer(), "key kimi-linear.ssm.conv_kernel is 1, expected at least 2");
}

// Older files have the heads of values in another order than these.
TEST_F(Refused, older_tensors_in_newer_architectures) {
    start_from("qwen35-lin128");
    tensor("blk.0.ssm_ba.weight");
    EXPECT_EQ(answer(),
              "tensor blk.0.ssm_ba.weight is not read by architecture qwen35: the answer would be "
              "wrong without it");
}

// Blocks share the keys of the last block of their kind, with a window or without.
TEST_F(Refused, keys_to_share_that_no_block_has) {
    start_from("gemma4-dense");
    const int64_t blocks = *metadata.integer("gemma4.block_count");
    std::vector<int64_t> windowed(size_t(blocks), 1);
    windowed.back() = 0;
    metadata.set("gemma4.attention.sliding_window_pattern",
                 {.type = gguf::ValueType::I32, .array = true, .elements = windowed});
    for (TensorInfo& known : tensors)  // which all have the shapes of a windowed block
        if (known.name.starts_with("blk.") && known.name.find(".attn_") != std::string::npos) {
            const std::string name = known.name.substr(known.name.find('.', 4));
            known.extents = tensor("blk.0" + name).extents;
        }
    EXPECT_EQ(answer(), "block " + std::to_string(blocks - 1) +
                            " shares the keys of an earlier block, and none of those without a "
                            "window has any");
    set("gemma4.attention.shared_kv_layers", uint32_t(blocks));
    EXPECT_EQ(answer(), "key gemma4.attention.shared_kv_layers is " + std::to_string(blocks) +
                            " of " + std::to_string(blocks) + " blocks");
}

TEST_F(Refused, windows_without_a_size) {
    for (std::string name : {"gpt-oss-mxfp4", "gemma4-dense"}) {
        start_from(name);
        std::string key = name.substr(0, name.rfind('-')) + ".attention.sliding_window";
        Metadata all = metadata;
        metadata = {};
        for (const auto& [other, value] : all.entries())
            if (other != key) metadata.set(other, value);
        EXPECT_TRUE(answer().starts_with("the required key " + key + " is missing")) << answer();
    }
    start_from("gemma4-dense");
    set("gemma4.rope.dimension_count_swa", 34);
    EXPECT_EQ(answer(),
              "key gemma4.rope.dimension_count_swa is 34, expected an even number up to the head "
              "size 32");
    start_from("gemma4-dense");
    metadata.set("gemma4.embedding_length_per_layer_input",
                 {.type = gguf::ValueType::I32, .elements = std::vector<int64_t>{-4}});
    EXPECT_EQ(answer(),
              "key gemma4.embedding_length_per_layer_input is -4, expected 1 to 2147483647");
}

TEST_F(Refused, windows_below_0) {
    for (const char* key :
         {"gemma3.attention.sliding_window", "gemma3.attention.sliding_window_pattern"}) {
        start_from("gemma3");
        metadata.set(key, {.type = gguf::ValueType::I32, .elements = std::vector<int64_t>{-1}});
        EXPECT_TRUE(answer().starts_with("key " + std::string(key) + " is -1, expected ")) << key;
    }
}

// The writer leaves them out.
TEST_F(Refused, but_not_extents_of_1_behind_the_last) {
    start_from("llama-rope-factors");
    ASSERT_EQ(answer(), "");
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    std::string bytes = text.str(), name = "blk.2.attn_output.weight";
    size_t dims = bytes.find(name) + name.size();
    ASSERT_EQ(bytes[dims], 2);
    bytes[dims] = 4;
    bytes.insert(dims + 4 + 2 * 8, std::string("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
    gguf::File file =
        gguf::File::parse(std::as_bytes(std::span(bytes)), "longer", gguf::Content::Directory);
    ASSERT_EQ(file.find(name)->dims, 4);
    EXPECT_EQ(answer_to(file), "");
}

}  // namespace
}  // namespace tandem::test
