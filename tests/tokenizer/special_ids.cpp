// Roles of tokens: what the file names, what is recognised, and what ends generation.
#include "model/tokenizer/special_ids.h"

#include <gtest/gtest.h>

#include "small_vocabulary.h"

namespace tandem::model {
namespace {

using test::Ids;
using test::small_vocabulary;
using test::SmallToken;
using test::spm_tokens;

std::vector<SmallToken> controls(const std::vector<std::string>& texts) {
    std::vector<SmallToken> tokens;
    for (const std::string& text : texts) tokens.push_back({text, TokenType::Control});
    return tokens;
}

// A byte-level vocabulary of these tokens, whose eos the file names.
gguf::Metadata bpe(const std::vector<SmallToken>& tokens, std::optional<uint32_t> eos = 0,
                   const std::string& pre = "gpt-2") {
    auto metadata = small_vocabulary("gpt2", tokens, {"a b"});
    metadata.set_string("tokenizer.ggml.pre", pre);
    if (eos) metadata.set_u32("tokenizer.ggml.eos_token_id", *eos);
    return metadata;
}

Ids ends(const gguf::Metadata& metadata) {
    const Tokenizer tokenizer(metadata, "small");
    Ids ids;
    for (int32_t id = 0; id < tokenizer.size(); ++id) {
        if (tokenizer.ends_generation(id)) ids.push_back(id);
    }
    return ids;
}

TEST(SpecialIds, the_file_names_them) {
    auto metadata = bpe(controls({"e", "b", "t", "m", "p"}));
    metadata.set_u32("tokenizer.ggml.bos_token_id", 1);
    metadata.set_u32("tokenizer.ggml.eot_token_id", 2);
    metadata.set_u32("tokenizer.ggml.eom_token_id", 3);
    metadata.set_u32("tokenizer.ggml.fim_pad_token_id", 4);
    const Tokenizer tokenizer(metadata, "small");
    EXPECT_EQ(tokenizer.eos(), 0);
    EXPECT_EQ(tokenizer.bos(), 1);
    EXPECT_EQ(tokenizer.special_ids().eot, 2);
    EXPECT_EQ(tokenizer.special_ids().eom, 3);
    EXPECT_EQ(tokenizer.special_ids().fim_padding, 4);
    EXPECT_EQ(ends(metadata), (Ids{0, 2, 3, 4}));
    EXPECT_TRUE(tokenizer.warnings().empty());
}

TEST(SpecialIds, an_id_without_a_token_is_ignored_with_a_warning) {
    const Tokenizer tokenizer(bpe({{"a"}}, 7), "small.gguf");
    EXPECT_EQ(tokenizer.eos(), std::nullopt);
    ASSERT_EQ(tokenizer.warnings().size(), 1U);
    EXPECT_EQ(tokenizer.warnings()[0],
              "small.gguf: tokenizer.ggml.eos_token_id is 7, but there are only 1 tokens; it is "
              "ignored");
}

TEST(SpecialIds, minus_one_says_that_no_token_has_the_role) {
    auto metadata = bpe({{"a"}});
    metadata.set_u32("tokenizer.ggml.eot_token_id", 4294967295);
    metadata.set_u32("tokenizer.ggml.fim_pad_token_id", 4294967295);
    const Tokenizer tokenizer(metadata, "small");
    EXPECT_EQ(tokenizer.special_ids().eot, std::nullopt);
    EXPECT_EQ(tokenizer.special_ids().fim_padding, std::nullopt);
    EXPECT_TRUE(tokenizer.warnings().empty());
}

TEST(SpecialIds, roles_are_found_by_their_texts) {
    const Tokenizer tokenizer(bpe(controls({"<eos>", "<EOT>", "<|im_end|>", "<|eom_id|>",
                                            "<reponame>", "[PAD]", "<|file_sep|>"})),
                              "small");
    EXPECT_EQ(tokenizer.special_ids().eot, 2) << "the first of the list of texts, not of ids";
    const SpecialIds& ids = tokenizer.special_ids();
    EXPECT_EQ(ids.eom, 3);
    EXPECT_EQ(ids.fim_repository, 4);
    EXPECT_EQ(ids.fim_padding, 5);
    EXPECT_EQ(ids.fim_separator, 6);
    EXPECT_EQ(ids.generation_ends, (std::set<int32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(SpecialIds, words_that_read_like_an_end_are_words) {
    const std::vector<SmallToken> tokens = {{"<|im_end|>", TokenType::Control},
                                            {"</s>", TokenType::Normal},
                                            {"<eos>", TokenType::UserDefined},
                                            {"[EOS]", TokenType::Unknown},
                                            {"[EOT]", TokenType::Normal}};
    EXPECT_EQ(ends(bpe(tokens)), (Ids{0, 3}));
    EXPECT_EQ(Tokenizer(bpe(tokens), "").piece(2), "<eos>");
    EXPECT_EQ(ends(bpe(tokens, std::nullopt)), (Ids{0, 1, 2, 3, 4})) << "the file names no eos";
    EXPECT_EQ(ends(bpe(tokens, 1)), (Ids{0, 1, 3})) << "it is the eos";
    EXPECT_EQ(Tokenizer(bpe(tokens, 1), "").piece(1), "") << "and then it is a control token";
    EXPECT_EQ(ends(bpe({{"x"}, {"[EOT]", TokenType::Normal}})), (Ids{0, 1})) << "it is the eot";
}

TEST(SpecialIds, harmony_messages_end_without_ending_generation) {
    const std::vector<SmallToken> tokens =
        controls({"<|return|>", "<|call|>", "<|end|>", "<|channel|>", "<|message|>", "<|start|>",
                  "<|constrain|>"});
    const auto metadata = bpe(tokens, 0, "gpt-4o");
    EXPECT_EQ(ends(metadata), (Ids{0, 1}));
    const Tokenizer tokenizer(metadata, "small");
    EXPECT_EQ(tokenizer.piece(2), "<|end|>") << "shown";
    EXPECT_EQ(tokenizer.piece(3), "<|channel|>");
    EXPECT_EQ(tokenizer.encode("<|end|><|call|>", test::plain), Ids{2})
        << "user-defined tokens are always found; the bytes of the rest have no tokens here";
    EXPECT_EQ(ends(bpe(controls({"<|flush|>", "<|calls|>", "<|end|>"}))), (Ids{0, 1}));
    EXPECT_EQ(ends(bpe(controls({"<|return|>", "x", "<|end|>"}))), (Ids{0, 2}))
        << "not Harmony without a call";
}

TEST(SpecialIds, gemma_4_has_a_word_like_an_end) {
    auto metadata = small_vocabulary(
        "gemma4", controls({"<eos>", "<turn|>", "<|tool_response>", "</s>"}), {"a b"});
    metadata.set_u32("tokenizer.ggml.eos_token_id", 0);
    EXPECT_EQ(ends(metadata), (Ids{0, 1, 2}));
    EXPECT_EQ(Tokenizer(metadata, "").piece(3), "</s>");
}

TEST(SpecialIds, defaults_of_spm) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens({})), "small");
    EXPECT_EQ(tokenizer.bos(), 1);
    EXPECT_EQ(tokenizer.eos(), 2);
    EXPECT_EQ(tokenizer.special_ids().unknown, 0);
    EXPECT_TRUE(tokenizer.adds_bos());
    EXPECT_FALSE(tokenizer.adds_eos());
    const Tokenizer tiny(small_vocabulary("llama", {{"a"}}), "small");
    EXPECT_EQ(tiny.bos(), std::nullopt) << "no default without a token";
    EXPECT_FALSE(tiny.adds_bos());
}

TEST(SpecialIds, the_default_of_bpe_holds_only_for_a_control_token) {
    std::vector<SmallToken> tokens(11, SmallToken{"x"});
    tokens.push_back({","});
    const auto with = [&](const std::string& pre, TokenType type) {
        tokens[11].type = type;
        const Tokenizer tokenizer(bpe(tokens, std::nullopt, pre), "small");
        return std::pair(tokenizer.bos(), tokenizer.eos());
    };
    const std::optional<int32_t> none;
    EXPECT_EQ(with("falcon", TokenType::Control), std::pair(std::optional(11), std::optional(11)));
    EXPECT_EQ(with("qwen35", TokenType::Normal), std::pair(none, none));
    EXPECT_EQ(with("glm4", TokenType::Control), std::pair(none, std::optional(11)));
}

TEST(SpecialIds, bos_and_eos_are_added_by_the_file_s_word_or_the_family_s_habit) {
    const auto tokens = controls({"e", "b"});
    const auto encoded = [&](const std::string& pre, std::optional<bool> bos,
                             std::optional<bool> eos) {
        auto metadata = bpe(tokens, 0, pre);
        metadata.set_u32("tokenizer.ggml.bos_token_id", 1);
        if (bos) metadata.set_bool("tokenizer.ggml.add_bos_token", *bos);
        if (eos) metadata.set_bool("tokenizer.ggml.add_eos_token", *eos);
        const Tokenizer tokenizer(metadata, "small");
        EXPECT_TRUE(tokenizer.encode("", {.add_special = false}).empty());
        return tokenizer.encode("");
    };
    EXPECT_EQ(encoded("gpt-2", {}, {}), Ids{});
    EXPECT_EQ(encoded("llama-bpe", {}, {}), Ids{1});
    EXPECT_EQ(encoded("tekken", {}, {}), Ids{1});
    EXPECT_EQ(encoded("gpt-2", true, {}), Ids{1});
    EXPECT_EQ(encoded("llama-bpe", false, true), Ids{0});
    EXPECT_EQ(encoded("llama-bpe", {}, true), (Ids{1, 0}));
}

TEST(SpecialIds, suppressed_tokens) {
    auto metadata = bpe({{"a"}, {"b"}});
    metadata.set("tokenizer.ggml.suppress_tokens", {.type = gguf::ValueType::I32,
                                                    .array = true,
                                                    .elements = std::vector<int64_t>{1, 2, -1, 0}});
    EXPECT_EQ(Tokenizer(metadata, "").special_ids().suppressed, (Ids{1, 0}));
}

}  // namespace
}  // namespace tandem::model
