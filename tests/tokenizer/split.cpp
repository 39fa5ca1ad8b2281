// Splitting: one difficult text under every kind of expression, and what only some of them have.
#include "model/tokenizer/split.h"

#include <gtest/gtest.h>

#include <tuple>

#include "effort.h"
#include "model/tokenizer/pretokenizer.h"

namespace tandem::model {
namespace {

// The pieces with bars between them.
std::string split_as(std::string_view pre, std::string_view text) {
    const Pretokenizer* pretokenizer = find_pretokenizer(pre);
    if (pretokenizer == nullptr) return "unknown pre-tokenizer";
    std::string line;
    const auto characters = model::characters(text);
    for (const Text piece : split(characters, pretokenizer->steps)) {
        size_t bytes = 0;
        for (const Character& character : piece) bytes += character.bytes;
        line.append(line.empty() ? "" : "|").append(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return line;
}

struct Example {
    const char* pre;
    const char* pieces;
};

TEST(Split, example_under_every_family) {
    static constexpr std::string_view text =
        "He'LL XMLHttp a\u0301Z  12345 \u4E2D\u6587x!\r\n\n \t/a\n";
    static constexpr Example examples[] = {
        {"default", "He|'|LL| XMLHttp| a|\u0301|Z| | |123|45| \u4E2D\u6587x|!|\r\n\n \t|/|a|\n"},
        {"falcon", "He|'|LL| XMLHttp| a|\u0301|Z| | |123|45| \u4E2D\u6587x|!|\r\n\n \t|/|a|\n"},
        {"gpt-2", "He|'|LL| XMLHttp| a|\u0301|Z| | 12345| \u4E2D\u6587x|!|\r\n\n |\t|/|a|\n"},
        {"starcoder",
         "He|'|LL| XMLHttp| a|\u0301|Z|  |1|2|3|4|5| \u4E2D\u6587x|!|\r\n\n |\t|/|a|\n"},
        {"llama-bpe", "He|'LL| XMLHttp| a|\u0301Z| | |123|45| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"qwen2", "He|'LL| XMLHttp| a|\u0301Z| | |1|2|3|4|5| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"qwen35", "He|'LL| XMLHttp| a\u0301Z| | |1|2|3|4|5| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"gpt-4o", "He'LL| XMLHttp| a\u0301|Z| | |123|45| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"tekken", "He|'LL| XMLHttp| a\u0301|Z| | |1|2|3|4|5| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"kimi-k2", "He'LL| XMLHttp| a\u0301|Z| | |123|45| |\u4E2D\u6587|x|!\r\n\n| |\t|/a|\n"},
        {"deepseek-llm",
         "He|'|LL| XMLHttp| a|\u0301|Z|  |12345| |\u4E2D\u6587|x|!|\r|\n|\n| |\t/|a|\n"},
        {"deepseek-coder",
         "He|'|LL| XMLHttp| a|\u0301|Z|  |1|2|3|4|5| |\u4E2D\u6587|x|!|\r|\n|\n| |\t/|a|\n"},
        {"deepseek-v3", "He|'LL| XMLHttp| a\u0301Z|  |123|45| |\u4E2D\u6587|x|!\r\n\n| |\t|/a|\n"},
        {"tiny_aya", "He'LL| XMLHttp| a\u0301|Z|  |12|345| \u4E2D\u6587x|!\r\n\n| |\t|/a|\n"},
        {"seed-coder",
         "He|'LL| XMLHttp| a|\u0301Z| | |1|2|3|4|5| \u4E2D\u6587x|!|\r\n\n| |\t|/a|\n"},
    };
    for (const auto& [pre, pieces] : examples) EXPECT_EQ(split_as(pre, text), pieces) << pre;
}

TEST(Split, loses_nothing_and_takes_empty_texts) {
    EXPECT_EQ(split_as("llama-bpe", ""), "");
    EXPECT_EQ(split_as("llama-bpe", "a\xFF\xFE b"), "a|\xFF\xFE| b");
}

TEST(Split, every_name_of_a_row_is_found) {
    for (const char* name : {"default",      "gpt-2",
                             "phi-2",        "roberta-bpe",
                             "jina-v2-code", "modern-bert",
                             "llama-bpe",    "jina-v5-nano",
                             "smaug-bpe",    "glm4",
                             "chatglm-bpe",  "jais-2",
                             "grok-2",       "llada-moe",
                             "stablelm2",    "minimax-m2",
                             "cohere2moe",   "youtu",
                             "joyai-llm",    "mellum2",
                             "smollm",       "granite-embed-multi-311m",
                             "sarvam-moe",   "gpt3-finnish",
                             "whitespace"}) {
        EXPECT_NE(find_pretokenizer(name), nullptr) << name;
    }
    EXPECT_EQ(find_pretokenizer(""), nullptr);
    EXPECT_EQ(find_pretokenizer("gpt"), nullptr);
    EXPECT_EQ(find_pretokenizer("gpt-2 phi-2"), nullptr);
}

TEST(Split, contractions) {
    EXPECT_EQ(split_as("gpt-2", "I'm WE'LL don't"), "I|'m| WE|'|LL| don|'t");
    EXPECT_EQ(split_as("llama-bpe", "'Sun it'RE'"), "'S|un| it|'RE|'");
    EXPECT_EQ(split_as("llama-bpe", "don\u2019t"), "don|\u2019t");
    EXPECT_EQ(split_as("gpt-4o", "don't WE'LL"), "don't| WE'LL");
}

TEST(Split, words_with_case) {
    EXPECT_EQ(split_as("gpt-4o", "HelloWorld XMLHttpRequest iOS"),
              "Hello|World| XMLHttp|Request| i|OS");
    EXPECT_EQ(split_as("gpt-4o", "\u00C9COLE \u00C9cole \u041F\u0440\u0438\u041C\u0438\u0440"),
              "\u00C9COLE| \u00C9cole| \u041F\u0440\u0438|\u041C\u0438\u0440");
    EXPECT_EQ(split_as("gpt-4o", "AB\u00AACD"), "AB\u00AA|CD") << "gives back what has no case";
    EXPECT_EQ(split_as("gpt-4o", "\u0301A"), "\u0301|A") << "a mark in front is also lower case";
    EXPECT_EQ(split_as("kimi-k2", "ab\u4E2D\u6587Cd"), "ab|\u4E2D\u6587|Cd");
}

TEST(Split, white_space) {
    EXPECT_EQ(split_as("gpt-2", "a  b   "), "a| | b|   ");
    EXPECT_EQ(split_as("gpt-2", "a\t\tb"), "a|\t|\t|b");
    EXPECT_EQ(split_as("llama-bpe", " \n \n  x"), " \n \n| | x");
    EXPECT_EQ(split_as("gpt-4o", "a!//\n/ b"), "a|!//\n/| b");
    EXPECT_EQ(split_as("gemma4", "a b\n\n\nc"), "a b|\n\n\n|c");
    EXPECT_EQ(split_as("laguna", "a b\n\nc"), "a| b|\n\n|c");
    EXPECT_EQ(split_as("whitespace", " ab  c"), " |ab|  |c");
    EXPECT_EQ(split_as("jais-2", std::string(7, ' ') + "x"), "    |  | x");
    EXPECT_EQ(split_as("jais-2", std::string(8, ' ')), "        ");
    EXPECT_EQ(split_as("jais-2", "  \n   x!\n\n   "), "  \n|  | x|!\n\n|  | ");
    EXPECT_EQ(split_as("jais-2", std::string(1027, '\t') + "1"),
              std::string(512, '\t') + "|" + std::string(512, '\t') + "|\t\t|\t|1");
}

TEST(Split, digits) {
    EXPECT_EQ(split_as("superbpe", "a1234567b"), "a|1|234|567|b");
    EXPECT_EQ(split_as("afmoe", "x1234567y"), "x|1|234|567|y");
    EXPECT_EQ(split_as("tiny_aya", "1234567 12345abc"), "1|234|567| |123|45|abc");
    EXPECT_EQ(split_as("minicpm5", "1234567"), "123|456|7");
    EXPECT_EQ(split_as("falcon", "1234567"), "123|456|7");
    EXPECT_EQ(split_as("youtu", "12"), "1|2");
}

TEST(Split, expressions_of_single_families) {
    EXPECT_EQ(split_as("youtu", "\uAC00\uFF0C\u3105\u3042a"), "\uAC00|\uFF0C|\u3105|\u3042|a");
    EXPECT_EQ(split_as("exaone-moe", "ab cd e\u0301 f, g"), "ab cd e\u0301 f|,| g");
    EXPECT_EQ(split_as("exaone-moe", "a!/\n\n"), "a|!/\n|\n");
    EXPECT_EQ(split_as("bloom", "a (b). c"), "a| (|b|).| c");
    EXPECT_EQ(split_as("viking", "a 12"), "a| |1|2");
    EXPECT_EQ(split_as("chameleon", "<sentinel:12>IMGIMGABZ\n    x1"),
              "<|sentinel|:|1|2|>|IMGIMGABZ|\n|    |x|1");
    EXPECT_EQ(split_as("deepseek-llm", "  a b   "), " | a| b|   ");
}

// Sixteen times the text takes about sixteen times as long; where every character looks over the
// rest of its run it takes 256 times as long.
TEST(Split, takes_linear_time) {
    constexpr size_t shorter = 1 << 13;
    const auto seconds = [](const char* pre, const std::string& text) {
        const auto characters = model::characters(text);
        const Steps steps = find_pretokenizer(pre)->steps;
        return test::effort([&] { EXPECT_FALSE(split(characters, steps).empty()); });
    };
    for (const char* pre : {"default", "gpt-2", "llama-bpe", "jais-2", "gpt-4o", "kimi-k2",
                            "tiny_aya", "superbpe", "deepseek-llm", "exaone-moe", "chameleon"}) {
        for (const auto& [before, run, after] :
             {std::tuple("", ' ', "x"), {"", '7', "x"}, {"\u00AA", 'A', "1"}, {"", '\n', " x"}}) {
            const auto text = [&](size_t length) {
                return before + std::string(length, run) + after;
            };
            EXPECT_LT(seconds(pre, text(16 * shorter)), 64 * seconds(pre, text(shorter)))
                << pre << ", a run of " << testing::PrintToString(run);
        }
    }
}

}  // namespace
}  // namespace tandem::model
