// Cutting special tokens out of texts.
#include "model/tokenizer/special_tokens.h"

#include <gtest/gtest.h>

#include "effort.h"
#include "small_vocabulary.h"

namespace tandem::model {
namespace {

using test::Ids;
using test::parsed;
using test::plain;
using test::small_vocabulary;
using test::SmallToken;

// Tokens in angle brackets, raw text as it is, with bars between them.
std::string partition(const std::vector<SmallToken>& tokens, std::string_view text,
                      const Swallowing& swallowing = {}, bool all = true,
                      const std::vector<ByteRange>& plain = {}) {
    std::vector<std::string> warnings;
    const Vocabulary vocabulary(small_vocabulary("llama", tokens), "small", warnings);
    const SpecialTokens special(vocabulary, swallowing);
    std::string line;
    for (const Fragment& fragment : special.partition(text, all, plain)) {
        if (!line.empty()) line += '|';
        if (fragment.token) {
            line.append("{").append(std::to_string(*fragment.token)).append("}");
        } else {
            line += fragment.text;
        }
    }
    return line;
}

const std::vector<SmallToken> marks = {
    {"<s>", TokenType::Control},      {"<|end|>", TokenType::Control},
    {"<u>", TokenType::UserDefined},  {"<unk>", TokenType::Unknown},
    {"word", TokenType::Normal},      {"<pad>", TokenType::Unused},
    {"<|end|>x", TokenType::Control},
};

TEST(SpecialTokens, are_cut_out_of_a_text) {
    EXPECT_EQ(partition(marks, ""), "");
    EXPECT_EQ(partition(marks, "<s>"), "{0}");
    EXPECT_EQ(partition(marks, "a<s><s>word<|end|>"), "a|{0}|{0}|word|{1}");
    EXPECT_EQ(partition(marks, "<unk><pad><S><s"), "{3}|<pad><S><s");
    EXPECT_EQ(partition(marks, "<|end|><|end|>x"), "{1}|{6}");
}

TEST(SpecialTokens, only_user_defined_ones_where_special_texts_are_not_parsed) {
    EXPECT_EQ(partition(marks, "<s><u><unk>", {}, false), "<s>|{2}|<unk>");
}

TEST(SpecialTokens, only_user_defined_ones_in_plain_ranges) {
    const auto with = [](std::string_view text, const std::vector<ByteRange>& plain_ranges) {
        return partition(marks, text, {}, true, plain_ranges);
    };
    EXPECT_EQ(with("<s>a<s><u><s>", {{3, 10}}), "{0}|a<s>|{2}|{0}");
    EXPECT_EQ(with("<s><s><s>", {{0, 3}, {6, 9}}), "<s>|{0}|<s>");
    EXPECT_EQ(with("<s><s>", {{2, 4}}), "<s><s>") << "one that has a byte there";
    EXPECT_EQ(with("<<s><s>", {{0, 1}}), "<|{0}|{0}");
    EXPECT_EQ(with("<|end|>x<|end|>x", {{7, 8}}), "{1}|x|{6}") << "the shorter one ends before it";
    std::vector<std::string> warnings;
    const Vocabulary vocabulary(small_vocabulary("llama", marks), "small", warnings);
    const SpecialTokens special(vocabulary, {}, {2});
    const ByteRange message[] = {{3, 6}};
    EXPECT_EQ(special.partition("<u><u>", true, message).size(), 2u) << "as syntax that is shown";
    EXPECT_EQ(special.partition("<u><u>", false).size(), 2u);
}

TEST(SpecialTokens, the_longer_one_wins_even_where_the_shorter_begins_first) {
    const std::vector<SmallToken> tokens = {{"ab", TokenType::Control},
                                            {"bcd", TokenType::Control},
                                            {"  ", TokenType::UserDefined},
                                            {"    ", TokenType::UserDefined}};
    EXPECT_EQ(partition(tokens, "abcd ab"), "a|{1}| |{0}");
    EXPECT_EQ(partition(tokens, "       "), "{3}|{2}| ");
}

TEST(SpecialTokens, swallow_white_space) {
    const std::vector<SmallToken> tokens = {
        {"<mask>", TokenType::Control}, {"<b>", TokenType::Control}, {"<unk>", TokenType::Control}};
    EXPECT_EQ(partition(tokens, "a \n<mask> b <b> c", {.left = "<mask>"}), "a|{0}| b |{1}| c");
    EXPECT_EQ(partition(tokens, " <mask> \n <b>\t\v\f\rc<unk> d", {.right = true}),
              " |{0}|{1}|c|{2}| d");
}

// Looking for one after another would take a thousand times as long for 4096 as for four.
TEST(SpecialTokens, thousands_of_them_cost_little_more_than_a_few) {
    std::string text;
    while (text.size() < 1 << 18) text += "<|reserved_ if (a < b) <|reserved_3|>";
    const auto seconds = [&](int count) {
        std::vector<SmallToken> tokens;
        for (int i = 0; i < count; ++i) {
            tokens.push_back({"<|reserved_" + std::to_string(i) + "|>", TokenType::Control});
        }
        std::vector<std::string> warnings;
        const Vocabulary vocabulary(small_vocabulary("llama", tokens), "small", warnings);
        const SpecialTokens special(vocabulary, {});
        return test::effort([&] { EXPECT_GT(special.partition(text, true).size(), 1000U); });
    };
    EXPECT_LT(seconds(4096), 30 * seconds(4));
}

// Phi-3 as the published tokenizer has it.
TEST(SpecialTokens, swallow_to_the_right_in_phi_3) {
    auto metadata = small_vocabulary(
        "llama", test::spm_tokens({{"<|user|>", TokenType::Control}, {"H"}, {"\u2581"}}));
    EXPECT_EQ(Tokenizer(metadata, "").encode("<|user|>\nH", parsed),
              (Ids{259, 261, 3 + '\n', 260}));
    metadata.set_string("general.name", "Microsoft Phi-3 mini");
    EXPECT_EQ(Tokenizer(metadata, "").encode("<|user|>\nH", parsed), (Ids{259, 261, 260}));
    EXPECT_EQ(Tokenizer(metadata, "").encode("<s>\nH", parsed), (Ids{1, 261, 3 + '\n', 260}));
    EXPECT_GT(Tokenizer(metadata, "").encode("<|user|>", plain).size(), 1U);
}

TEST(SpecialTokens, swallow_to_the_left_where_the_pre_tokenizer_says_so) {
    auto metadata =
        small_vocabulary("gpt2", {{"a"}, {"\u0120"}, {"<mask>", TokenType::Control}}, {"a a"});
    metadata.set_string("tokenizer.ggml.pre", "jina-v2-code");
    EXPECT_EQ(Tokenizer(metadata, "").encode("a <mask> a", parsed), (Ids{0, 2, 1, 0}));
    metadata.set_string("tokenizer.ggml.pre", "gpt-2");
    EXPECT_EQ(Tokenizer(metadata, "").encode("a <mask> a", parsed), (Ids{0, 1, 2, 1, 0}));
}

}  // namespace
}  // namespace tandem::model
