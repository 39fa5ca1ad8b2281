// Models with random weights: their types, shapes and keys, and that tandem itself can plan them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "cli/synth/model.h"
#include "cli/synth/presets.h"
#include "cli/synth/random_rows.h"
#include "cli/synth/recipe.h"
#include "gguf/error.h"
#include "gguf/folder.h"
#include "gguf/half.h"
#include "gguf/vectors.h"
#include "gguf/writer.h"
#include "model/architecture.h"
#include "tools/tiny.h"

namespace tandem::cli {
namespace {

using gguf::DType;
using test::error_of;
using test::Folder;

DType type_of(const SyntheticModel& model, const std::string& name) {
    for (const gguf::TensorInfo& tensor : model.tensors)
        if (tensor.name == name) return tensor.dtype;
    ADD_FAILURE() << name;
    return DType::I8;
}

int64_t parameters(const SyntheticModel& model) {
    int64_t sum = 0;
    for (const gguf::TensorInfo& tensor : model.tensors) sum += tensor.elements();
    return sum;
}

TEST(Synth, presets_have_the_published_numbers_of_parameters) {
    // Of the published files, rope_freqs included.
    EXPECT_EQ(parameters(design("llama-1b:F16", 0, 0)), 1235814432);
    EXPECT_EQ(parameters(design("llama-8b:F16", 0, 0)), 8030261312);
    EXPECT_EQ(parameters(design("qwen3-4b:F16", 0, 0)), 4022468096);
    EXPECT_EQ(parameters(design("qwen3-30b-a3b:F16", 0, 0)), 30532122624);
    EXPECT_EQ(parameters(design("mixtral-8x7b:F16", 0, 0)), 46702792704);
}

TEST(Synth, numbers_may_be_those_of_bf16) {
    for (const DType dtype : {DType::F16, DType::F32})
        for (const bool from_bf16 : {false, true}) {
            const RandomRows rows(dtype, 512, from_bf16);
            std::vector<std::byte> row(size_t(rows.row_bytes()));
            std::vector<float> numbers(512);
            rows.fill(1, row);
            gguf::decode_row(dtype, row.data(), numbers);
            const auto others = std::ranges::count_if(numbers, [](float number) {
                return gguf::bf16_to_f32(gguf::f32_to_bf16(number)) != number;
            });
            EXPECT_EQ(others == 0, from_bf16) << gguf::name(dtype);
        }
}

TEST(Synth, mixtures_follow_their_recipes) {
    const SyntheticModel model = design("llama-8b:Q4_K_M", 0, 0);
    EXPECT_EQ(type_of(model, "token_embd.weight"), DType::Q4_K);
    EXPECT_EQ(type_of(model, "output.weight"), DType::Q6_K);
    EXPECT_EQ(type_of(model, "blk.5.attn_q.weight"), DType::Q4_K);
    EXPECT_EQ(type_of(model, "blk.5.attn_norm.weight"), DType::F32);
    // More bits in the first and last eighth of 32 blocks, and in every third between.
    std::string raised;
    for (int i = 0; i < 32; ++i) {
        const std::string block = "blk." + std::to_string(i);
        const bool value = type_of(model, block + ".attn_v.weight") == DType::Q6_K;
        EXPECT_EQ(type_of(model, block + ".ffn_down.weight") == DType::Q6_K, value);
        raised += value ? '6' : '4';
    }
    EXPECT_EQ(raised, "66664464464464464464464464466666");
    const SyntheticModel five = design("llama-1b:q5_k_m", 0, 0);
    EXPECT_EQ(type_of(five, "token_embd.weight"), DType::Q6_K);
    EXPECT_EQ(type_of(five, "blk.2.attn_k.weight"), DType::Q5_K);
    EXPECT_EQ(type_of(five, "blk.0.attn_v.weight"), DType::Q6_K);
    const SyntheticModel eight = design("mixtral-8x7b:Q4_K_M", 0, 0);
    EXPECT_EQ(type_of(eight, "blk.9.attn_k.weight"), DType::Q8_0);
    EXPECT_EQ(type_of(eight, "blk.9.attn_output.weight"), DType::Q5_K);
    EXPECT_EQ(type_of(eight, "blk.9.ffn_gate_inp.weight"), DType::F32);
}

TEST(Synth, types_that_do_not_fit_the_rows_give_way) {
    const Preset& preset = find_preset("llama-1b");
    auto chosen = [&](const char* recipe, int64_t columns,
                      const char* name = "blk.8.attn_q.weight") {
        return choose_type(find_recipe(recipe), preset, 16,
                           {.name = name, .dims = 2, .extents = {columns, 8, 1, 1}});
    };
    EXPECT_EQ(chosen("Q4_K_M", 896), DType::Q5_0);
    EXPECT_EQ(chosen("Q5_K_M", 896), DType::Q5_1);
    EXPECT_EQ(chosen("Q6_K", 896), DType::Q8_0);
    EXPECT_EQ(chosen("Q2_K", 896), DType::Q4_0);
    EXPECT_EQ(chosen("IQ3_S", 896), DType::IQ4_NL);
    EXPECT_EQ(chosen("Q4_K_M", 100), DType::F16);
    EXPECT_EQ(chosen("Q4_K_M", 896, "output.weight"), DType::Q8_0);
    EXPECT_EQ(chosen("Q8_0", 1024, "output.weight"), DType::Q8_0);
    EXPECT_EQ(chosen("IQ2_XS", 1024, "output.weight"), DType::Q5_K);
    EXPECT_EQ(chosen("BF16", 1024, "output.weight"), DType::BF16);
}

TEST(Synth, a_written_file_is_a_model) {
    const Folder folder;
    const auto path = folder / "x.gguf";
    int64_t last = 0, total = 0;
    write(design("qwen3-0.6b:Q4_K_M", 2, 7), path, [&](int64_t done, int64_t all) {
        EXPECT_GE(done, last);
        last = done, total = all;
        return true;
    });
    const gguf::File file = gguf::File::open(path);
    EXPECT_EQ(last, total - 4 * 1024);  // the final norm comes after the last matrix
    EXPECT_EQ(file.metadata().text("general.architecture"), "qwen3");
    EXPECT_EQ(file.metadata().integer("general.file_type"), 15);
    EXPECT_EQ(file.metadata().texts("tokenizer.ggml.tokens").size(), 151936u);
    EXPECT_EQ(file.metadata().texts("tokenizer.ggml.tokens")[151645], "<|im_end|>");
    // Norms are around 1, matrices around 0.
    const gguf::TensorInfo& norm = *file.find("output_norm.weight");
    std::vector<float> values(size_t(norm.row_length()));
    gguf::decode_row(norm.dtype, file.data(norm).data(), values);
    double sum = 0;
    for (float value : values) sum += value;
    EXPECT_NEAR(sum / double(values.size()), 1, 0.02);
    EXPECT_NE(file.find("blk.1.ffn_down.weight"), nullptr);
    EXPECT_EQ(model::build(file, {})->layers(), 2);
}

TEST(Synth, vocabularies_have_no_token_twice) {
    for (const char* preset :
         {"llama2-7b", "llama-1b", "mistral-nemo", "qwen3-4b", "gemma3-1b", "gemma4-31b",
          "gpt-oss-20b", "glm4-9b", "kimi-k2", "deepseek-v3", "deepseek-v2-lite", "qwen3.5-4b"}) {
        const SyntheticModel model = design(std::string(preset) + ":F16", 1, 0);
        auto texts = model.metadata.texts("tokenizer.ggml.tokens");
        EXPECT_EQ(int64_t(texts.size()), find_preset(preset).vocab) << preset;
        std::vector<std::string> sorted(texts.begin(), texts.end());
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << preset;
    }
}

TEST(Synth, nothing_is_left_when_writing_ends_early) {
    const Folder folder;
    const auto path = folder / "x.gguf";
    EXPECT_EQ(error_of([&] {
                  write(design("qwen3-0.6b:Q4_0", 1, 0), path,
                        [](int64_t, int64_t) { return false; });
              }),
              "interrupted");
    EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
    const auto nowhere = folder / "no" / "x.gguf";
    EXPECT_EQ(error_of([&] { write(test::design_tiny(), nowhere); }),
              "cannot write " + nowhere.string() + ": No such file or directory");
}

std::string refusal(const std::filesystem::path& path) {
    const std::string error = error_of([&] { write(test::design_tiny(), path); });
    const std::string begin = "cannot write " + path.string() + ": ";
    return error.starts_with(begin) ? error.substr(begin.size()) : error;
}

TEST(Synth, the_place_of_other_models_is_not_taken) {
    const Folder folder;
    const auto real = folder / "real.gguf", cut = folder / "cut.gguf", made = folder / "made.gguf";
    gguf::Metadata metadata;
    metadata.set_string("general.architecture", "llama");
    metadata.set_string("general.name", "Someone's");
    gguf::Writer(real, metadata, {}).finish();
    std::ofstream(cut) << "GGUF";
    std::ofstream(made) << "a text";
    for (const auto& path : {real, cut})
        EXPECT_EQ(refusal(path), "it is a model that synth did not make");
    EXPECT_EQ(gguf::File::open(real).metadata().text("general.name"), "Someone's");
    for (int time = 0; time < 2; ++time) EXPECT_EQ(refusal(made), "");
    EXPECT_EQ(gguf::File::open(made).metadata().text("general.name"), "Tiny, random weights");
}

TEST(Synth, what_may_not_be_written_is_not_replaced) {
    if (geteuid() == 0) GTEST_SKIP() << "who may write everything";
    const Folder folder;
    const auto path = folder / "x.gguf";
    std::ofstream(path) << "a text";
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    EXPECT_EQ(refusal(path), "Permission denied");
}

TEST(Synth, files_are_written_behind_links) {
    const Folder folder;
    const auto link = folder / "link.gguf";
    std::filesystem::create_symlink("x.gguf", link);
    EXPECT_EQ(refusal(link), "it is a link that leads nowhere");
    std::ofstream(folder / "x.gguf") << "a text";
    EXPECT_EQ(refusal(link), "");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(gguf::File::open(folder / "x.gguf").metadata().text("general.name"),
              "Tiny, random weights");
}

TEST(Synth, pipes_are_not_waited_for) {
    const Folder folder;
    const auto path = folder / "x.gguf";
    ASSERT_EQ(mkfifo((path.string() + ".incomplete").c_str(), 0600), 0);
    EXPECT_EQ(refusal(path), "");
    ASSERT_EQ(mkfifo((folder / "pipe.gguf").c_str(), 0600), 0);
    EXPECT_EQ(refusal(folder / "pipe.gguf"), "it is there, and not a regular file");
}

TEST(Synth, llama3_stretches_long_wavelengths) {
    const std::vector<float> factors = design("llama-1b:F16", 1, 0).frequencies;
    ASSERT_EQ(factors.size(), 32u);
    EXPECT_EQ(factors.front(), 1);
    EXPECT_EQ(factors.back(), 32);
    EXPECT_TRUE(std::is_sorted(factors.begin(), factors.end()));
}

TEST(Synth, errors_name_what_exists) {
    EXPECT_EQ(find_preset("Llama-3.2-1B").name, "llama-1b");
    EXPECT_EQ(find_preset("qwen3_4b").name, "qwen3-4b");
    EXPECT_NE(
        error_of([] { find_preset("gpt-5"); }).find("\"gpt-5\": choose one of deepseek-v2-lite, "),
        std::string::npos);
    EXPECT_NE(
        error_of([] { find_recipe("Q4_Z"); }).find("\"Q4_Z\" for weights: choose one of Q4_K_M"),
        std::string::npos);
    EXPECT_NE(error_of([] { design("llama-1b", 0, 0); }).find("such as llama-1b:Q4_K_M"),
              std::string::npos);
    EXPECT_EQ(error_of([] { design("llama-1b:Q8_0", 17, 0); }),
              "--layers 17: Llama 3.2 1B has 16 layers");
}

TEST(Synth, models_are_recognised_by_their_shape) {
    EXPECT_EQ(size_class(design("llama-8b:F16", 0, 0).metadata), "8B");
    EXPECT_EQ(size_class(design("llama2-7b:F16", 0, 0).metadata), "7B");
    EXPECT_EQ(size_class(design("qwen3-30b-a3b:F16", 0, 0).metadata), "30B.A3B");
    EXPECT_EQ(size_class(design("llama-8b:F16", 3, 0).metadata), "?B");
    EXPECT_EQ(file_type_name(15), "Q4_K - Medium");
}

}  // namespace
}  // namespace tandem::cli
