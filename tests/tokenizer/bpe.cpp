// Byte-pair encoding with vocabularies of a few tokens.
#include "model/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include "small_vocabulary.h"

namespace tandem::model {
namespace {

using test::error_of;
using test::Ids;
using test::pieces;
using test::plain;
using test::small_vocabulary;

gguf::Metadata with_pre(gguf::Metadata metadata, const std::string& pre) {
    metadata.set_string("tokenizer.ggml.pre", pre);
    return metadata;
}

TEST(Bpe, merges_in_the_order_of_the_list) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"b"}, {"c"}, {"bc"}, {"ab"}}, {"b c", "a b"});
    const Tokenizer tokenizer(with_pre(metadata, "gpt-2"), "small");
    EXPECT_EQ(tokenizer.encode("abc", plain), (Ids{0, 3}));
    EXPECT_EQ(tokenizer.encode("ababc", plain), (Ids{4, 0, 3}));
}

TEST(Bpe, of_two_entries_for_a_pair_the_first_counts) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"b"}, {"c"}, {"bc"}, {"ab"}}, {"a b", "b c", "a b"});
    const Tokenizer tokenizer(with_pre(metadata, "gpt-2"), "small");
    EXPECT_EQ(tokenizer.encode("abc", plain), (Ids{4, 2}));
}

TEST(Bpe, merges_go_through_texts_that_are_no_tokens) {
    const auto metadata = small_vocabulary("gpt2", {{"a"}, {"b"}, {"abab"}}, {"a b", "ab ab"});
    const Tokenizer tokenizer(with_pre(metadata, "gpt-2"), "small");
    EXPECT_EQ(tokenizer.encode("abab", plain), Ids{2});
    EXPECT_EQ(tokenizer.encode("ab", plain), (Ids{0, 1})) << "falls back to its bytes";
}

TEST(Bpe, without_merges_the_ids_are_the_ranks) {
    const auto metadata = small_vocabulary("gpt2", {{"a"}, {"b"}, {"c"}, {"bc"}, {"ab"}, {"abc"}});
    const Tokenizer tokenizer(with_pre(metadata, "kimi-k2"), "small");
    EXPECT_EQ(tokenizer.encode("ab", plain), Ids{4});
    EXPECT_EQ(tokenizer.encode("abc", plain), Ids{5});
    EXPECT_EQ(tokenizer.encode("abab", plain), (Ids{4, 4}));
    EXPECT_EQ(tokenizer.encode("aabc", plain), (Ids{0, 5}));
}

// All cuts of this token would take hours.
TEST(Bpe, a_huge_token_without_merges_is_joined_from_nothing) {
    const auto metadata = small_vocabulary("gpt2", {{"a"}, {"b"}, {std::string(8 << 20, 'a')}});
    const Tokenizer tokenizer(with_pre(metadata, "kimi-k2"), "small");
    EXPECT_EQ(tokenizer.encode("ab", plain), (Ids{0, 1}));
}

TEST(Bpe, whole_pieces_are_looked_up_where_the_family_does_so) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"b"}, {"\u0120"}, {"\u0120ab"}}, {"a b"});
    EXPECT_EQ(Tokenizer(with_pre(metadata, "llama-bpe"), "").encode(" ab", plain), Ids{3});
    EXPECT_EQ(Tokenizer(with_pre(metadata, "gpt-2"), "").encode(" ab", plain), (Ids{2, 0, 1}));
}

TEST(Bpe, a_special_token_is_no_whole_piece) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"b"}, {"ab", TokenType::Control}}, {"b a"});
    EXPECT_EQ(Tokenizer(with_pre(metadata, "llama-bpe"), "").encode("ab", plain), (Ids{0, 1}));
}

TEST(Bpe, keeps_bytes_that_are_not_utf8) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"\u00FE"}, {"\u00E2"}, {"\u0124"}}, {"a a"});
    const Tokenizer tokenizer(with_pre(metadata, "gpt-2"), "small");
    const Ids ids = tokenizer.encode("a\xFE\xE2\x82", plain);
    EXPECT_EQ(ids, (Ids{0, 1, 2, 3}));
    EXPECT_EQ(pieces(tokenizer, ids, ""), "a\xFE\xE2\x82");
}

TEST(Bpe, bytes_without_a_token_vanish) {
    const auto metadata = small_vocabulary("gpt2", {{"a"}, {"b"}}, {"a b"});
    EXPECT_EQ(Tokenizer(with_pre(metadata, "gpt-2"), "").encode("a!b", plain), (Ids{0, 1}));
}

TEST(Bpe, a_letter_that_a_user_defined_token_holds_is_not_a_byte) {
    const auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"\u00C0", TokenType::UserDefined}}, {"a a"});
    const Tokenizer tokenizer(with_pre(metadata, "deepseek-llm"), "small");
    EXPECT_EQ(tokenizer.encode("a\u00C0", plain), (Ids{0, 1}));
    EXPECT_EQ(tokenizer.piece(1), "\u00C0");
    EXPECT_EQ(tokenizer.encode("a\xC0", plain), Ids{0});
}

TEST(Bpe, gemma4_merges_lines_of_utf8) {
    auto metadata = small_vocabulary(
        "gemma4",
        test::spm_tokens(
            {{"a"}, {"\u2581"}, {"\u2581a"}, {"\n"}, {"\n\n"}, {"\n\n\n"}, {"\u4E2D"}}),
        {"\u2581 a", "\n \n"});
    metadata.set_u32("tokenizer.ggml.bos_token_id", 1);
    metadata.set_bool("tokenizer.ggml.add_bos_token", false);
    const Tokenizer tokenizer(metadata, "small");
    EXPECT_EQ(pieces(tokenizer, tokenizer.encode("a a\n\n\na\u4E2D", plain)),
              "a| a|\n\n\n|a|\u4E2D");
    EXPECT_EQ(tokenizer.encode("\u00E9", plain), (Ids{3 + 0xC3, 3 + 0xA9})) << "bytes";
    EXPECT_EQ(tokenizer.encode("a").front(), 1) << "BOS, whatever the file says";
    EXPECT_EQ(pieces(tokenizer, tokenizer.encode("a  a\n\xFF", plain), ""), "a  a\n\xFF");
}

TEST(Bpe, says_which_merge_is_broken) {
    const auto metadata =
        with_pre(small_vocabulary("gpt2", {{"a"}, {"b"}}, {"a b", "ab"}), "gpt-2");
    EXPECT_EQ(error_of(metadata),
              "small.gguf: entry 1 of tokenizer.ggml.merges is \"ab\", expected two texts "
              "with a space between them");
}

// Such a file of 18 megabytes would take minutes.
TEST(Bpe, refuses_merges_that_are_chosen_to_collide) {
    constexpr size_t count = 300, table = 1024;
    std::vector<test::SmallToken> tokens;
    for (int i = 0; i < 1024; ++i) tokens.push_back({"t" + std::to_string(i)});
    std::vector<std::string> merges;
    for (uint64_t left = 0; merges.size() < count; ++left) {
        for (uint64_t right = 0; right < tokens.size() && merges.size() < count; ++right) {
            const uint64_t hash = (left << 32 | right) * 0x9E3779B97F4A7C15 >> 32;
            if (hash % table == 7) merges.push_back(tokens[left].text + " " + tokens[right].text);
        }
    }
    EXPECT_EQ(error_of(with_pre(small_vocabulary("gpt2", tokens, merges), "gpt-2")),
              "small.gguf: the pairs of tokenizer.ggml.merges all collide in a table: the "
              "file is made to keep its reader busy");
}

TEST(Vocabulary, refuses_texts_that_are_chosen_to_collide) {
    std::vector<test::SmallToken> tokens;
    for (int i = 0; tokens.size() < 300; ++i) {
        const std::string text = "t" + std::to_string(i);
        if (std::hash<std::string_view>{}(text) % 1024 == 7) tokens.push_back({text});
    }
    EXPECT_EQ(error_of(with_pre(small_vocabulary("gpt2", tokens), "gpt-2")),
              "small.gguf: the texts of tokenizer.ggml.tokens all collide in a table: the "
              "file is made to keep its reader busy");
}

}  // namespace
}  // namespace tandem::model
