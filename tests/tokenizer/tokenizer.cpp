// Pieces, decoding, and what the tokenizer says about files it cannot or only half use.
#include "model/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "small_vocabulary.h"

namespace tandem::model {
namespace {

using test::error_of;
using test::Ids;
using test::small_vocabulary;
using test::SmallToken;
using test::spm_tokens;

TEST(Tokenizer, pieces_by_type) {
    const Tokenizer tokenizer(small_vocabulary("llama", {{"<unk>", TokenType::Unknown},
                                                         {"<s>", TokenType::Control},
                                                         {"\u2581<td>", TokenType::UserDefined},
                                                         {"<0x0A>", TokenType::Byte},
                                                         {"\u2581a\u2581", TokenType::Normal},
                                                         {"[PAD]", TokenType::Unused},
                                                         {"?", TokenType::Undefined},
                                                         {"\xFE", TokenType::Byte}}),
                              "small");
    const auto both = [&](int32_t id) {
        return std::pair(tokenizer.piece(id), tokenizer.piece(id, true));
    };
    const auto pair = [](std::string_view hidden, std::string_view shown) {
        return std::pair(hidden, shown);
    };
    EXPECT_EQ(both(0), pair("", "<unk>"));
    EXPECT_EQ(both(1), pair("", "<s>"));
    EXPECT_EQ(both(2), pair("\u2581<td>", "\u2581<td>"));
    EXPECT_EQ(both(3), pair("\n", "\n"));
    EXPECT_EQ(both(4), pair(" a ", " a "));
    EXPECT_EQ(both(5), pair("", ""));
    EXPECT_EQ(both(6), pair("", ""));
    EXPECT_EQ(both(7), pair("\xFE", "\xFE"));
    EXPECT_EQ(both(8), pair("", "")) << "no such token";
    EXPECT_EQ(both(-1), pair("", ""));
}

TEST(Tokenizer, a_token_without_a_text_gets_one) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens({{""}})), "");
    EXPECT_EQ(tokenizer.size(), 260);
    EXPECT_EQ(tokenizer.piece(259), "[EMPTY_259]");
}

TEST(Tokenizer, moves_with_its_texts) {
    Tokenizer first(small_vocabulary("llama", spm_tokens({{"\u2581a"}})), "small");
    const Tokenizer second = std::move(first);
    EXPECT_EQ(second.encode("a"), (Ids{1, 259}));
    EXPECT_EQ(second.piece(2, true), "</s>");
    EXPECT_EQ(second.piece(259), " a");
}

TEST(Tokenizer, token_types_of_any_width_and_absent_ones) {
    auto metadata = small_vocabulary("llama", {{"<unk>"}, {"<s>"}, {"</s>"}, {"a"}, {"\u2581"}});
    metadata.set("tokenizer.ggml.token_type",
                 {.type = gguf::ValueType::U8,
                  .array = true,
                  .elements = std::vector<uint64_t>{2, 3, 3, 1, 1, 9}});
    EXPECT_EQ(Tokenizer(metadata, "").encode("<s>a", test::parsed), (Ids{1, 4, 3}));
    gguf::Metadata bare;
    bare.set_string("tokenizer.ggml.model", "llama");
    bare.set("tokenizer.ggml.tokens", test::strings({"u", "b", "e", "a"}));
    EXPECT_EQ(Tokenizer(bare, "").encode("a", {.parse_special = false}), (Ids{1, 0, 3}))
        << "the space is unknown";
}

TEST(Tokenizer, warns_and_goes_on) {
    auto metadata = small_vocabulary("gpt2", {{"a"}, {"a"}}, {"a a"});
    const Tokenizer missing(metadata, "small.gguf");
    ASSERT_EQ(missing.warnings().size(), 2U);
    EXPECT_EQ(missing.warnings()[0],
              "small.gguf: tokenizer.ggml.pre is missing; text is split by the default rules, "
              "which may not be the model's");
    EXPECT_EQ(missing.warnings()[1],
              "small.gguf: 1 tokens repeat the text of an earlier one and are never found (token 1 "
              "that of 0)");
    metadata.set_string("tokenizer.ggml.pre", "new-thing");
    const Tokenizer unknown(metadata, "small.gguf");
    EXPECT_EQ(unknown.warnings()[0],
              "small.gguf: tokenizer.ggml.pre is \"new-thing\", which is unknown; text is split as "
              "for llama-bpe");
    EXPECT_EQ(unknown.encode("aa", test::plain), (Ids{0, 0}));
}

TEST(Tokenizer, a_file_without_a_tokenizer_has_a_size_but_no_text) {
    gguf::Metadata metadata;
    metadata.set_string("general.architecture", "llama");
    metadata.set_u32("llama.vocab_size", 512);
    metadata.set_string("tokenizer.ggml.model", "no_vocab");
    const Tokenizer tokenizer(metadata, "small.gguf");
    EXPECT_EQ(tokenizer.size(), 512);
    EXPECT_EQ(tokenizer.piece(7), "");
    EXPECT_EQ(tokenizer.bos(), std::nullopt);
    EXPECT_FALSE(tokenizer.ends_generation(0));
    try {
        tokenizer.encode("a");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "small.gguf: the file has no tokenizer; text can be neither read nor written, "
                     "only token ids");
    }
}

TEST(Tokenizer, says_which_kinds_it_supports) {
    gguf::Metadata metadata;
    EXPECT_EQ(error_of(metadata),
              "small.gguf: tokenizer.ggml.model is missing, supported are llama, gpt2, gemma4, "
              "none, no_vocab");
    metadata.set_string("tokenizer.ggml.model", "bert");
    EXPECT_EQ(error_of(metadata),
              "small.gguf: tokenizer.ggml.model is \"bert\", supported are llama, gpt2, gemma4, "
              "none, no_vocab");
}

TEST(Tokenizer, says_what_is_wrong_with_the_arrays) {
    gguf::Metadata metadata;
    metadata.set_string("tokenizer.ggml.model", "llama");
    EXPECT_EQ(error_of(metadata), "small.gguf: tokenizer.ggml.tokens is missing or empty");
    metadata = small_vocabulary("llama", {{"a"}, {"b"}});
    metadata.set("tokenizer.ggml.scores",
                 {.type = gguf::ValueType::F32, .array = true, .elements = std::vector<double>{1}});
    EXPECT_EQ(error_of(metadata), "small.gguf: tokenizer.ggml.scores has 1 entries for 2 tokens");
}

}  // namespace
}  // namespace tandem::model
