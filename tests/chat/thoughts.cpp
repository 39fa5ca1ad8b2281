// Thoughts told from answers.
#include "model/chat/thoughts.h"

#include <gtest/gtest.h>

namespace tandem::model {
namespace {

constexpr std::string_view qwen = "{{ '<think>' }} ... '</think>'";
constexpr std::string_view harmony = "'<|channel|>analysis<|message|>' ...";

// Thoughts in brackets; the text comes in pieces of so many bytes.
std::string heard(std::string_view chat_template, std::string_view prompt, std::string_view text,
                  size_t bytes) {
    Voices voices(marks_of(chat_template), prompt);
    std::string answer, thoughts;
    const auto add = [&](const std::vector<Voices::Part>& parts) {
        for (const auto& [voice, said] : parts)
            (voice == Voice::Thought ? thoughts : answer) += said;
    };
    for (size_t at = 0; at < text.size(); at += bytes) add(voices.push(text.substr(at, bytes)));
    add(voices.flush());
    return "[" + thoughts + "]" + answer;
}

TEST(Voices, are_divided_by_marks_wherever_pieces_end) {
    for (size_t bytes : {1, 2, 3, 5, 100}) {
        const auto of_qwen = [&](std::string_view prompt, std::string_view text) {
            return heard(qwen, prompt, text, bytes);
        };
        EXPECT_EQ(of_qwen("", "<think>\nwell,  so\n</think>\n\nYes. No. \n"),
                  "[well,  so]Yes. No.");
        EXPECT_EQ(of_qwen("...<think>\n", "well</think>Yes"), "[well]Yes");
        EXPECT_EQ(of_qwen("<think>\n\n</think>\n\n", "Yes <thin>"), "[]Yes <thin>");
        EXPECT_EQ(of_qwen("", "no thoughts <thi"), "[]no thoughts <thi");
        EXPECT_EQ(of_qwen("", "<think>and never an answer"), "[and never an answer]");
        EXPECT_EQ(of_qwen("", ""), "[]");
        EXPECT_EQ(of_qwen("", " \n "), "[]");
        EXPECT_EQ(heard(harmony, "<|start|>assistant",
                        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>"
                        "final<|message|>Hello!",
                        bytes),
                  "[hm]Hello!");
        EXPECT_EQ(heard(harmony, "<|start|>assistant", "<|channel|>final<|message|>Hello!", bytes),
                  "[]Hello!");
        EXPECT_EQ(heard(harmony, "",
                        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>"
                        "commentary<|message|>so<|end|><|channel|>final<|message|>Hi",
                        bytes),
                  "[hm\n\nso]Hi");
        EXPECT_EQ(of_qwen("", "Use the <think> tag.</think> Bye"),
                  "[]Use the <think> tag.</think> Bye");
        EXPECT_EQ(of_qwen("", "<think>the <think> tag</think>Use <think>"),
                  "[the <think> tag]Use <think>");
        EXPECT_EQ(heard("no marks", "", " <think>a</think> b ", bytes), "[]<think>a</think> b");
    }
}

TEST(Voices, say_at_once_what_is_certain) {
    Voices voices(marks_of(qwen), "");
    const auto said = [&](std::string_view piece) {
        std::string all;
        for (const Voices::Part& part : voices.push(piece)) all += part.text;
        return all;
    };
    EXPECT_EQ(said("Hello"), "Hello");
    EXPECT_EQ(said(" there "), " there");
    EXPECT_EQ(said("<"), "");
    EXPECT_EQ(said("3"), " <3");
}

TEST(Marks, say_how_thoughts_end) {
    EXPECT_EQ(end_of_thoughts(marks_of(qwen)), "</think>");
    EXPECT_EQ(end_of_thoughts(marks_of("[THINK]")), "[/THINK]");
    EXPECT_EQ(end_of_thoughts(marks_of("<|channel|>analysis<|message|>")),
              "<|end|><|start|>assistant<|channel|>final<|message|>");
    EXPECT_EQ(end_of_thoughts({}), "");
}

TEST(Marks, are_those_of_the_template) {
    EXPECT_TRUE(marks_of("{{ messages }}").empty());
    EXPECT_EQ(marks_of(qwen)[0].text, "<think>");
    EXPECT_EQ(marks_of("[THINK]")[0].text, "[THINK]");
    EXPECT_EQ(marks_of("<think:opensource>")[0].text, "<think:opensource>");
}

}  // namespace
}  // namespace tandem::model
