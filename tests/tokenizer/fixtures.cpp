// The tokenizers inside the fixture models, whose results their makers wrote down beside them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data.h"
#include "gguf/file.h"
#include "small_vocabulary.h"

namespace tandem::model {
namespace {

TEST(TokenizerFixtures, encode_as_written_down) {
    const auto folder = test::shared("fixtures");
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
    size_t checks = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".gguf") continue;
        SCOPED_TRACE(entry.path().filename());
        const auto expected = nlohmann::json::parse(
            std::ifstream(std::filesystem::path(entry.path()).replace_extension(".tokens.json")));
        const auto file = gguf::File::open(entry.path(), gguf::Content::Directory);
        const Tokenizer tokenizer(file.metadata(), entry.path().filename());
        EXPECT_EQ(tokenizer.size(), expected.at("n_vocab"));
        if (expected.contains("bos_first")) {
            EXPECT_EQ(tokenizer.adds_bos(), expected.at("bos_first").get<bool>());
        }
        for (const auto& check : expected.at("tokenize_checks")) {
            const std::string text = check.at("text");
            const auto ids = tokenizer.encode(text, {.add_special = false, .parse_special = true});
            EXPECT_EQ(ids, check.at("ids").get<std::vector<int32_t>>()) << text;
            // Some vocabularies put a space in front.
            const std::string written = test::pieces(tokenizer, ids, "");
            EXPECT_TRUE(written == text || written == " " + text) << written;
            ++checks;
        }
    }
    EXPECT_GT(checks, 0U);
}

}  // namespace
}  // namespace tandem::model
