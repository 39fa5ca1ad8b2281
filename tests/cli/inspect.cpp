// `tandem inspect`: the table and the JSON of one file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "gguf/writer.h"

namespace tandem::test {

TEST(inspect, shows_keys_tensors_and_totals) {
    Result result = tandem({"inspect", tiny_model().string()});
    EXPECT_EQ(result.code, 0) << result.error;
    auto has = [&](const std::string& line) {
        EXPECT_NE(result.out.find(line + "\n"), std::string::npos) << line << "\n" << result.out;
    };
    has(tiny_model().string() + ": GGUF version 3, 16 keys, 21 tensors");
    has("general.architecture                    string \"llama\"");
    has("llama.context_length                    u32 64");
    has("tokenizer.ggml.token_type               array of 286 i32 [2, 3, 3, 6, 6, 6, ...]");
    has("token_embd.weight         F32      32 x 286    35.8 KiB");
    has("blk.1.ffn_down.weight     F32      48 x 32        6 KiB");
    has("output_norm.weight        F32      32             128 B");
    has("total   21 tensors, 33.82 K parameters, 132.1 KiB");
    EXPECT_EQ(tandem({"inspect", "-m", tiny_model().string()}).out, result.out);
}

TEST(inspect, says_the_same_in_json) {
    Result result = tandem({"inspect", "--json", tiny_model().string()});
    EXPECT_EQ(result.code, 0) << result.error;
    auto root = nlohmann::json::parse(result.out);
    EXPECT_EQ(root["version"], 3);
    EXPECT_EQ(root["metadata"]["general.name"], "tiny");
    EXPECT_EQ(root["metadata"]["llama.block_count"], 2);
    EXPECT_EQ(root["metadata"]["tokenizer.ggml.token_type"].size(), 286u);
    ASSERT_EQ(root["tensors"].size(), 21u);
    EXPECT_EQ(root["tensors"][0]["name"], "token_embd.weight");
    EXPECT_EQ(root["tensors"][0]["type"], "F32");
    EXPECT_EQ(root["tensors"][0]["shape"], (std::vector<int>{32, 286}));
    EXPECT_EQ(root["tensors"][0]["bytes"], 32 * 286 * 4);
    EXPECT_EQ(root["total"]["tensors"], 21);
}

TEST(inspect, a_cut_file_is_shown_as_far_as_it_goes) {
    std::string bytes = read_file(tiny_model());
    auto path = write_file("cut.gguf", bytes.substr(0, bytes.size() - 1000));
    Result result = tandem({"inspect", path.string()});
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.out.find("total   21 tensors"), std::string::npos);
    EXPECT_NE(result.error.find("if it is a download, it is incomplete"), std::string::npos)
        << result.error;
}

TEST(inspect, a_hostile_name_neither_commands_the_terminal_nor_widens_all_lines) {
    gguf::Metadata metadata;
    metadata.set_string("general.architecture", "t");
    metadata.set_u32("\xc2\x9b" + std::string(5000, 'k'), 1);
    const auto path = tiny_model().parent_path() / "names.gguf";
    gguf::Writer(path, metadata, {}).finish();
    Result result = tandem({"inspect", path.string()});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.out.find("\"\\xc2\\x9bkkk"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find('\x9b'), std::string::npos);
    EXPECT_LT(result.out.size(), 6000u);
}

}  // namespace tandem::test
