// Answers bound to a grammar, of models that think before.
#include "model/chat/bound_answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tokenizer/small_vocabulary.h"

namespace tandem::model {
namespace {

constexpr std::string_view qwen = "{{ '<think>' }} ... '</think>'";
constexpr std::string_view harmony = "'<|channel|>analysis<|message|>' ...";

// Bytes, letters in control tokens and in words.
Tokenizer words() {
    using test::TokenType;
    auto tokens = test::spm_tokens({{"a"},
                                    {"b"},
                                    {"ab"},
                                    {"final"},
                                    {"analysis"},
                                    {"ana"},
                                    {"lysis"},
                                    {"assistant"},
                                    {"th"},
                                    {"ink"},
                                    {"\n\n"}});
    for (const char* control : {"<think>", "</think>", "<|channel|>", "<|message|>", "<|end|>",
                                "<|start|>", "<|return|>", "<|call|>", "<|other|>"})
        tokens.push_back({control, TokenType::Control});
    gguf::Metadata metadata = test::small_vocabulary("llama", tokens);
    metadata.set_u32("tokenizer.ggml.eos_token_id", 2);
    return Tokenizer(metadata, "small.gguf");
}

constexpr int32_t end = 2;

class Answer {
  public:
    Answer(const std::string& grammar, std::string_view chat_template, std::string_view prompt)
        : bound_(grammar::Grammar(grammar), tokenizer_, false) {
        const auto marks = marks_of(chat_template);
        bound_.begin(marks, Voices(marks, prompt));
    }
    bool allows(int32_t token) { return bound_.bounds().allows(token); }
    bool allows(const std::string& text) { return allows(token(text)); }
    // Goes on with tokens of these texts. The first that may not come; empty: all came.
    std::string say(const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            compare();
            if (!allows(text)) return text;
            bound_.accept(token(text));
        }
        return "";
    }
    void take(const std::string& text) { bound_.accept(token(text)); }
    bool can_end() const { return bound_.can_end(); }
    bool must_end() const { return bound_.must_end(); }

  private:
    int32_t token(const std::string& text) const {
        for (int32_t id = tokenizer_.size() - 1; id >= 0; --id)
            if (tokenizer_.piece(id, true) == text) return id;
        ADD_FAILURE() << text;
        return -1;
    }
    // All at once is what each is alone, but for marks and white space, which nothing asks for.
    void compare() {
        std::vector<float> logits(size_t(tokenizer_.size()));
        bound_.bounds().forbid(logits);
        for (int32_t id = 0; id < tokenizer_.size(); ++id)
            if (logits[size_t(id)] == 0) {
                EXPECT_TRUE(allows(id)) << tokenizer_.piece(id, true);
            }
    }

    Tokenizer tokenizer_ = words();
    BoundAnswer bound_;
};

TEST(BoundAnswer, is_the_whole_text_where_no_one_thinks) {
    Answer answer("root ::= \"ab\" \"a\"?", "", "");
    EXPECT_FALSE(answer.allows(end));
    EXPECT_FALSE(answer.allows("<think>"));
    EXPECT_FALSE(answer.allows("<|other|>"));
    EXPECT_FALSE(answer.allows("\n\n"));
    EXPECT_EQ(answer.say({"a", "b"}), "");
    EXPECT_TRUE(answer.allows(end));
    EXPECT_TRUE(answer.can_end());
    EXPECT_FALSE(answer.must_end());
    EXPECT_EQ(answer.say({"a"}), "");
    EXPECT_TRUE(answer.must_end());
}

TEST(BoundAnswer, begins_behind_a_thought_of_the_prompt) {
    Answer answer("root ::= \"ab\"", qwen, "...<think>\n");
    EXPECT_FALSE(answer.allows(end)) << "there is no answer yet";
    EXPECT_FALSE(answer.can_end());
    EXPECT_EQ(answer.say({"b", "final", "\n\n", "<|other|>", "<think>", "b", "</think>"}), "");
    EXPECT_FALSE(answer.allows("b"));
    EXPECT_FALSE(answer.allows(end));
    EXPECT_EQ(answer.say({"\n\n", "\n\n"}), "\n\n") << "white space once";
    answer.take("\n\n");  // unless others than the model write it
    EXPECT_EQ(answer.say({"ab"}), "");
    EXPECT_TRUE(answer.must_end());
}

TEST(BoundAnswer, lets_the_model_begin_a_thought_and_only_before_the_answer) {
    Answer answer("root ::= \"ab\"+ | \"<\"", qwen, "<|start|>assistant\n");
    EXPECT_TRUE(answer.allows("<think>"));
    EXPECT_FALSE(answer.allows("</think>"));
    EXPECT_FALSE(answer.allows("\n\n")) << "there was no thought";
    EXPECT_EQ(answer.say({"<think>", "b", "</think>", "a"}), "");
    EXPECT_FALSE(answer.allows("<think>"));
    EXPECT_EQ(answer.say({"b", "ab"}), "");
    EXPECT_TRUE(answer.can_end());

    // In pieces, where the answer does not begin so.
    Answer pieces("root ::= \"ab\"", qwen, "");
    EXPECT_EQ(pieces.say({"<", "th", "a"}), "a") << "what has begun as a mark is one";
    EXPECT_EQ(pieces.say({"ink", ">", "b", "</think>", "ab"}), "");
}

TEST(BoundAnswer, begins_in_the_channel_of_answers) {
    Answer answer("root ::= .{2}", harmony, "<|start|>assistant");
    EXPECT_FALSE(answer.allows("<|return|>"));
    EXPECT_EQ(answer.say({"<|channel|>", "ana", "lysis", "<|message|>", "b", "<|end|>", "<|start|>",
                          "assistant", "<|channel|>", "b"}),
              "b");
    EXPECT_EQ(answer.say({"final", "<|message|>", "b"}), "");
    for (const char* mark : {"<|end|>", "<|channel|>", "<|start|>"})
        EXPECT_FALSE(answer.allows(mark)) << "no text of an answer, whatever its grammar has";
    EXPECT_FALSE(answer.allows("<|return|>"));
    EXPECT_EQ(answer.say({"b"}), "");
    EXPECT_TRUE(answer.allows("<|return|>"));
    EXPECT_TRUE(answer.must_end());
    // At once, without marks at all.
    Answer bare("root ::= \"ab\"", harmony, "<|start|>assistant");
    EXPECT_EQ(bare.say({"ab"}), "");
}

}  // namespace
}  // namespace tandem::model
