// Keys of a model file that options override, against files that have them so.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/tiny_model.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

// The logits of a few tokens, far apart enough for what scales positions to show.
std::string logits(const std::filesystem::path& model, const Words& more = {}) {
    const std::filesystem::path out = own_folder() / "keys.f32";
    Words words{"logits",     "-m",        model.string(),
                "-dev",       "reference", "-o",
                out.string(), "--tokens",  "1,5,9,5,30,31,7,40,41,42"};
    words.insert(words.end(), more.begin(), more.end());
    const Result result = tandem(words);
    EXPECT_EQ(result.code, 0) << result.error;
    return read_file(out);
}

std::filesystem::path model_with(const std::string& name,
                                 const std::function<void(gguf::Metadata&)>& keys) {
    return changed_tiny_model(name + ".gguf", {.keys = keys});
}

std::string error(const Words& more) {
    Words words{"run", "-m", tiny_model().string(), "-dev", "reference", "-p", "a", "-n", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Result result = tandem(words);
    EXPECT_EQ(result.code, 1);
    return result.error;
}

}  // namespace

TEST(ModelKeys, are_what_options_say) {
    const std::string plain = logits(tiny_model());
    const auto expect = [&](const std::string& name, const Words& options,
                            const std::function<void(gguf::Metadata&)>& keys) {
        const std::string changed = logits(tiny_model(), options);
        EXPECT_TRUE(changed == logits(model_with(name, keys))) << name;
        EXPECT_FALSE(changed == plain) << name;
    };
    expect("base", {"--rope-freq-base", "500"},
           [](auto& keys) { keys.set_f32("llama.rope.freq_base", 500); });
    for (const Words& scale : {Words{"--rope-scale", "4"}, Words{"--rope-freq-scale", "0.25"}})
        expect("scale", scale, [](auto& keys) { keys.set_f32("llama.rope.scaling.factor", 4); });
    expect("yarn",
           {"--rope-scaling", "yarn", "--rope-scale", "4", "--yarn-orig-ctx", "32",
            "--yarn-attn-factor", "1.5", "--yarn-beta-fast", "16", "--yarn-beta-slow", "2"},
           [](auto& keys) {
               keys.set_string("llama.rope.scaling.type", "yarn");
               keys.set_f32("llama.rope.scaling.factor", 4);
               keys.set_u32("llama.rope.scaling.original_context_length", 32);
               keys.set_f32("llama.rope.scaling.attn_factor", 1.5);
               keys.set_f32("llama.rope.scaling.yarn_beta_fast", 16);
               keys.set_f32("llama.rope.scaling.yarn_beta_slow", 2);
           });
    expect("epsilon", {"--override-kv", "llama.attention.layer_norm_rms_epsilon=float:0.5"},
           [](auto& keys) { keys.set_f32("llama.attention.layer_norm_rms_epsilon", 0.5); });
    // What stands for the file's own.
    EXPECT_TRUE(
        logits(tiny_model(), {"--rope-freq-base", "0", "--rope-scale", "0", "--yarn-orig-ctx", "0",
                              "--yarn-beta-fast", "-1", "--yarn-ext-factor", "-1"}) == plain);
}

TEST(ModelKeys, are_several) {
    const Result result = tandem(
        {"tokenize", "-m", tiny_model().string(), "-p", "a", "--ids", "--override-kv",
         "tokenizer.ggml.add_bos_token=bool:false,tokenizer.ggml.add_space_prefix=bool:false",
         "--override-kv", "x.y=str:z"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(result.out,
              tandem({"tokenize", "-m",
                      model_with("bare",
                                 [](auto& keys) {
                                     keys.set_bool("tokenizer.ggml.add_bos_token", false);
                                     keys.set_bool("tokenizer.ggml.add_space_prefix", false);
                                 })
                          .string(),
                      "-p", "a", "--ids"})
                  .out);
    EXPECT_NE(result.error.find("note: --override-kv x.y=str:z: the file has no such key"),
              std::string::npos)
        << result.error;
}

TEST(ModelKeys, say_what_is_wrong) {
    EXPECT_EQ(error({"--override-kv", "llama.context_length"}),
              "error: option --override-kv takes KEY=TYPE:VALUE, not \"llama.context_length\"\n");
    EXPECT_EQ(error({"--override-kv", "a=int:x"}),
              "error: --override-kv a=int:x takes a whole number, not \"x\"\n");
    EXPECT_EQ(error({"--override-kv", "a=u32:1"}),
              "error: --override-kv a=u32:1 has a type that is none of int, float, bool and str\n");
    EXPECT_EQ(error({"--override-kv", "a=bool:1"}),
              "error: --override-kv a=bool:1 takes true or false, not \"1\"\n");
    EXPECT_EQ(error({"--override-kv", "llama.context_length=str:x"}),
              "error: --override-kv llama.context_length=str:x: the file has u32 64 as "
              "llama.context_length\n");
    EXPECT_EQ(
        error({"--override-kv", "tokenizer.ggml.tokens=str:x"})
            .find("error: --override-kv tokenizer.ggml.tokens=str:x: the file has array of 286"),
        0u);
    EXPECT_EQ(error({"--override-kv", "llama.block_count=float:2"}),
              "error: --override-kv llama.block_count=float:2: the file has u32 2 as "
              "llama.block_count\n");
    EXPECT_EQ(error({"--rope-scaling", "longrope"}),
              "error: option --rope-scaling takes none, linear or yarn, not \"longrope\"\n");
    EXPECT_EQ(error({"--rope-scale", "2", "--rope-freq-scale", "0.5"}),
              "error: two scales of positions given: choose one of --rope-scale and "
              "--rope-freq-scale\n");
    EXPECT_EQ(error({"--rope-scale", "-2"}),
              "error: option --rope-scale takes a number from 1e-30 to 1e30, not \"-2\"\n");
    EXPECT_EQ(error({"--yarn-ext-factor", "0.5"})
                  .find("error: option --yarn-ext-factor is not supported: "),
              0u);
}

}  // namespace tandem::test
