// SentencePiece's encoding with vocabularies of a few tokens.
#include "model/tokenizer/spm.h"

#include <gtest/gtest.h>

#include "small_vocabulary.h"

namespace tandem::model {
namespace {

using test::Ids;
using test::parsed;
using test::pieces;
using test::plain;
using test::small_vocabulary;
using test::spm_tokens;

// Ids from 259 on.
const std::vector<test::SmallToken> words = {
    {"\u2581", TokenType::Normal, -20}, {"a", TokenType::Normal, -21},
    {"b", TokenType::Normal, -22},      {"c", TokenType::Normal, -23},
    {"ab", TokenType::Normal, -2},      {"bc", TokenType::Normal, -1},
    {"\u2581a", TokenType::Normal, -3}, {"\u2581\u2581", TokenType::Normal, -4},
};

std::string encoded(const Tokenizer& tokenizer, std::string_view text,
                    EncodeOptions options = plain) {
    return pieces(tokenizer, tokenizer.encode(text, options));
}

TEST(Spm, the_highest_score_joins_first_and_of_equals_the_leftmost) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens(words)), "small");
    EXPECT_EQ(encoded(tokenizer, "abc"), " a|bc");
    EXPECT_EQ(encoded(tokenizer, "bab"), " |b|ab");
    const Tokenizer even(small_vocabulary("llama", spm_tokens({{"aa"}, {"a"}, {"\u2581"}})), "");
    EXPECT_EQ(encoded(even, "aaa"), " |aa|a");
}

TEST(Spm, the_parts_of_a_token_need_not_be_tokens) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens({{"xy"}, {"\u2581"}})), "");
    EXPECT_EQ(encoded(tokenizer, "xyx"), " |xy|x");
    EXPECT_EQ(tokenizer.encode("x", plain).back(), 3 + 'x') << "a byte";
}

TEST(Spm, every_raw_text_gets_a_space_in_front) {
    auto metadata = small_vocabulary("llama", spm_tokens(words));
    const Tokenizer tokenizer(metadata, "small");
    EXPECT_EQ(encoded(tokenizer, ""), "");
    EXPECT_EQ(encoded(tokenizer, " a"), " | a");
    EXPECT_EQ(encoded(tokenizer, "a</s>a", parsed), " a|</s>| a");
    EXPECT_EQ(encoded(tokenizer, "a", {.parse_special = false}), "<s>| a");
    metadata.set_bool("tokenizer.ggml.add_space_prefix", false);
    EXPECT_EQ(encoded(Tokenizer(metadata, ""), "a</s> a", parsed), "a|</s>| a");
}

TEST(Spm, special_tokens_are_not_merged_to) {
    std::vector<test::SmallToken> tokens = words;
    tokens.push_back({"ab c", TokenType::Control, 0});
    tokens[4].type = TokenType::Control;  // ab
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens(tokens)), "small");
    EXPECT_EQ(encoded(tokenizer, "bab"), " |b|a|b");
    EXPECT_EQ(tokenizer.encode("<0x41>", plain).size(), 7U) << "nor are bytes";
}

TEST(Spm, words_are_not_cut_where_a_token_goes_on) {
    std::vector<test::SmallToken> tokens = words;
    tokens.push_back({"c\u2581a", TokenType::Normal, -5});
    tokens.push_back({"c\u2581", TokenType::Normal, -6});
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens(tokens)), "small");
    EXPECT_EQ(encoded(tokenizer, "c a c b"), " |c a| |c |b");
}

TEST(Spm, invalid_utf8_is_bytes_and_swallows_nothing) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens(words)), "small");
    EXPECT_EQ(tokenizer.encode("\xF0 a", plain), (Ids{259, 3 + 0xF0, 265}));
    EXPECT_EQ(pieces(tokenizer, tokenizer.encode("\xF0 a\xE2\x82", plain), ""), " \xF0 a\xE2\x82");
}

TEST(Spm, what_has_no_bytes_is_unknown) {
    const Tokenizer tokenizer(
        small_vocabulary("llama", {{"<unk>", TokenType::Unknown}, {"a"}, {"\u2581"}, {"\xC3"}}),
        "");
    EXPECT_EQ(tokenizer.encode("a!\u4E2D", plain), (Ids{2, 1, 0, 0}));
    EXPECT_EQ(tokenizer.encode("\xC3", plain), (Ids{2, 3})) << "a token of that very byte";
}

// No U+2581 here: the space in front is three bytes.
TEST(Spm, scores_of_either_sign_and_zero_are_in_order) {
    const Tokenizer tokenizer(
        small_vocabulary("llama", spm_tokens({{"ab", TokenType::Normal, -0.0},
                                              {"bc", TokenType::Normal, 0.0},
                                              {"cd", TokenType::Normal, 1.5},
                                              {"de", TokenType::Normal, 2.5}})),
        "");
    EXPECT_EQ(encoded(tokenizer, "abc").substr(6), "ab|c") << "zeros are equal, the left one wins";
    EXPECT_EQ(encoded(tokenizer, "bcd").substr(6), "b|cd");
    EXPECT_EQ(encoded(tokenizer, "cde").substr(6), "c|de");
}

}  // namespace
}  // namespace tandem::model
