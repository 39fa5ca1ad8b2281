// `tandem perplexity --hellaswag` and relatives as processes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <regex>

#include "cli/options.h"
#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "gguf/file.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/softmax.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Result perplexity(const Words& more, const std::filesystem::path& model = tiny_model()) {
    Words words{"perplexity", "-m", model.string()};
    if (std::ranges::find(more, "-dev") == more.end())
        words.insert(words.end(), {"-dev", "reference"});
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

const char* const sentences =
    "0,the cat saw a dog so _ ran away from it,the cat,the dog,1\n"
    "1,\"if it rains, a _ is good to have\",coat,umbrella,2\n"
    "2,_ went home,she,he,1\n"
    "3,the end is _.,near,far,2\n";

std::string stories() {
    std::string text;
    for (int i = 0; i < 5; ++i)
        text += "story " + std::string(1, char('a' + i)) + " of a cat\n" + std::to_string(i % 4) +
                "\nwho ran away\nwho slept\nwho saw a dog\nand a mouse that " +
                std::string(1, char('v' + i)) + "\n";
    return text;
}

// The mean log-probability of the tokens `first` to `end` of a text, of all its logits, which are
// computed at once.
double plain_score(const std::vector<int32_t>& tokens, size_t first, size_t end) {
    std::string ids;
    for (int32_t token : tokens) ids += (ids.empty() ? "" : ",") + std::to_string(token);
    const std::string path = write_file("logits.f32", "").string();
    const Result result = tandem(
        {"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens", ids, "-o", path});
    EXPECT_EQ(result.code, 0) << result.error;
    const std::string bytes = read_file(path);
    const size_t vocab = 286;
    EXPECT_EQ(bytes.size(), tokens.size() * vocab * sizeof(float));
    std::vector<float> logits(bytes.size() / sizeof(float));
    std::memcpy(logits.data(), bytes.data(), bytes.size());
    double sum = 0;
    for (size_t i = first; i < end; ++i)
        sum +=
            log_probabilities(std::span(logits).subspan((i - 1) * vocab, vocab))[size_t(tokens[i])];
    return sum / double(end - first);
}

std::vector<int32_t> tokens_of(const std::string& text) {
    static const gguf::File file = gguf::File::open(tiny_model());
    static const model::Tokenizer tokenizer(file.metadata(), file.path());
    return tokenizer.encode(text, {.parse_special = false});
}

// Both texts of a task: what stands before and behind the choice.
std::array<double, 2> plain_scores(const std::string& before, const std::string& behind,
                                   const std::array<std::string, 2>& choices) {
    std::vector<std::vector<int32_t>> tokens;
    for (const std::string& choice : choices) tokens.push_back(tokens_of(before + choice + behind));
    size_t common = 0;
    while (tokens[0][common] == tokens[1][common]) ++common;
    const bool passed_over = tokens[0].size() - common > 3 && tokens[1].size() - common > 3;
    std::array<double, 2> scores;
    for (size_t i = 0; i < 2; ++i) {
        const size_t first = passed_over ? tokens_of(before + choices[i]).size() : common;
        scores[i] = plain_score(tokens[i], first,
                                tokens[i].size() - (tokens[i].size() - first > 1 ? 1 : 0));
    }
    return scores;
}

std::vector<std::array<double, 2>> scores_in(const std::string& out) {
    std::vector<std::array<double, 2>> scores;
    for (const std::string& line : cli::split(out, "\n")) {
        std::array<double, 2> pair;
        if (std::sscanf(line.c_str(), "%*d\t%*f\t%lf %lf", &pair[0], &pair[1]) == 2)
            scores.push_back(pair);
    }
    return scores;
}

}  // namespace

TEST(choosing, winogrande_scores_are_those_of_the_logits) {
    const std::string file = write_file("sentences.csv", sentences).string();
    const Result result = perplexity({"-f", file, "--winogrande", "-ctk", "f32", "-ctv", "f32"});
    EXPECT_EQ(result.code, 0) << result.error;
    const std::vector<std::array<double, 2>> expected{
        plain_scores("the cat saw a dog so ", " ran away from it", {"the cat", "the dog"}),
        plain_scores("if it rains, a ", " is good to have", {"coat", "umbrella"}),
        plain_scores("", " went home", {"she", "he"}),
        plain_scores("the end is ", ".", {"near", "far"})};
    const auto scores = scores_in(result.out);
    ASSERT_EQ(scores.size(), 4u) << result.out;
    for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(scores[i][j], expected[i][j], 2e-4) << i;
    EXPECT_TRUE(std::regex_match(
        result.out,
        std::regex(R"((\d\t\d+\.\d{4}\t +-\d+\.\d{6}   *-\d+\.\d{6}  [12]  [12]\n){4})"
                   R"(Final Winogrande score\(4 tasks\): \d+\.\d{4} \+/- \d+\.\d{4}\n)")))
        << result.out;
    // The last task is one without a newline behind it, too.
    const std::string cut =
        write_file("cut.csv", std::string(sentences).substr(0, std::strlen(sentences) - 1))
            .string();
    EXPECT_EQ(perplexity({"-bf", cut, "--winogrande", "-ctk", "f32", "-ctv", "f32"}).out,
              result.out);
}

TEST(choosing, is_the_same_in_every_split_mode) {
    const std::string file = write_file("sentences.csv", sentences).string();
    auto scores = [&](const Words& more) {
        Words words{"-f", file, "--winogrande", "-ctk", "f32", "-ctv", "f32"};
        words.insert(words.end(), more.begin(), more.end());
        const Result result = perplexity(words);
        EXPECT_EQ(result.code, 0) << result.error;
        return scores_in(result.out);
    };
    const auto expected = scores({});
    ASSERT_EQ(expected.size(), 4u);
    for (const Words& more : {Words{"-dev", "reference,cpu", "-sm", "layer"},
                              {"-dev", "cpu,cpu,cpu", "-sm", "tensor"},
                              {"-dev", "reference,cpu", "-sm", "graph", "-ts", "2,1"},
                              {"-np", "1", "-ub", "3"},
                              {"-np", "2", "-b", "7"}}) {
        const auto given = scores(more);
        ASSERT_EQ(given.size(), 4u);
        for (size_t i = 0; i < 4; ++i)
            for (size_t j = 0; j < 2; ++j)
                EXPECT_NEAR(given[i][j], expected[i][j], 1e-3) << more.back() << " " << i;
    }
}

TEST(choosing, draws_some_of_the_tasks) {
    const std::string file = write_file("sentences.csv", sentences).string();
    const auto all = scores_in(perplexity({"-f", file, "--winogrande"}).out);
    // 0.417 * 4 = 1.67, whose place the last takes; 0.997 * 3 = 2.99.
    const Result some = perplexity({"-f", file, "--winogrande", "--winogrande-tasks", "2"});
    const auto drawn = scores_in(some.out);
    ASSERT_EQ(drawn.size(), 2u) << some.error;
    EXPECT_NEAR(drawn[0][0], all[1][0], 1e-3);
    EXPECT_NEAR(drawn[1][0], all[2][0], 1e-3);
    EXPECT_NE(some.error.find("perplexity: calculating winogrande over 2 of 4 tasks, n_ctx="),
              std::string::npos)
        << some.error;
    EXPECT_TRUE(std::regex_search(
        some.error, std::regex(R"(\nperplexity: 1 of 2 tasks - ETA \d+\.\d\d minutes\n$)")))
        << some.error;
}

TEST(choosing, hellaswag_and_multiple_choice_say_how_often_the_model_is_right) {
    const std::string file = write_file("stories.txt", stories()).string();
    const Result result = perplexity({"-f", file, "--hellaswag"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex("task\tacc_norm\t95% confidence interval\n"
                               R"((\d\t\d+\.\d{8}%\t\[\d+\.\d{4}%, \d+\.\d{4}%\]\n){5})")))
        << result.out;
    EXPECT_EQ(perplexity({"-f", file, "--hellaswag", "--hellaswag-tasks", "0", "-np", "1"}).out,
              result.out);
    const std::string two = perplexity({"-f", file, "--hellaswag", "--hellaswag-tasks", "2"}).out;
    EXPECT_EQ(two, result.out.substr(0, two.size()));
    EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 3);

    auto u32 = [](uint32_t number) { return std::string{char(number), char(number >> 8), 0, 0}; };
    auto text = [&](const std::string& bytes) { return u32(uint32_t(bytes.size())) + bytes; };
    // The right answer is the one that costs least: what is alike is as likely, and the first wins.
    std::string bytes = u32(2) + u32(0) + u32(0);
    for (const char* question : {"is a cat", "is a dog"})
        bytes += text(question) + u32(2) + text("same") + text("same") + u32(1) + u32(0) + u32(0);
    const std::string choices = write_file("choices.bin", bytes).string();
    EXPECT_EQ(perplexity({"-bf", choices, "--multiple-choice"}).out,
              "task\tacc_norm\n1\t100.00000000\n2\t100.00000000\n"
              "Final result: 100.0000 +/- 0.0000\nRandom chance: 50.0000 +/- 50.0000\n");
}

// What llama.cpp gives for 200 tasks of the 1267.
TEST(choosing, is_that_of_llama_perplexity) {
    if (!std::filesystem::exists(shared("models/stories260K.gguf")))
        GTEST_SKIP() << "needs the models of the full data set";
    for (const Words& devices :
         {Words{"-dev", "cpu"}, Words{"-dev", "cpu,cpu", "-sm", "tensor", "-ub", "100"}}) {
        Words words{"-f",           shared("texts/winogrande-eval.csv").string(),
                    "--winogrande", "--winogrande-tasks",
                    "200",          "-ctk",
                    "f32",          "-ctv",
                    "f32"};
        words.insert(words.end(), devices.begin(), devices.end());
        const Result result = perplexity(words, shared("models/stories260K.gguf"));
        EXPECT_EQ(result.code, 0) << result.error;
        EXPECT_TRUE(result.out.ends_with("Final Winogrande score(200 tasks): 54.0000 +/- 3.5330\n"))
            << result.out;
        const auto scores = scores_in(result.out);
        ASSERT_EQ(scores.size(), 200u);
        EXPECT_NEAR(scores[0][0], -2.243166, 1e-4);
        EXPECT_NEAR(scores[0][1], -2.951253, 1e-4);
        EXPECT_NEAR(scores[199][0], -2.523612, 1e-4);
        EXPECT_NEAR(scores[199][1], -2.577997, 1e-4);
    }
}

TEST(choosing, errors) {
    const std::string file = write_file("sentences.csv", sentences).string();
    auto line = [](const Words& words) {
        const Result result = perplexity(words);
        EXPECT_EQ(result.code, 1);
        EXPECT_EQ(result.out, "");
        return result.error;
    };
    EXPECT_EQ(line({"--hellaswag"}), "error: no tasks given: name a file with -f\n");
    EXPECT_EQ(line({"-f", "/no/tasks", "--winogrande"}),
              "error: cannot read the tasks from /no/tasks: No such file or directory\n");
    EXPECT_EQ(line({"-f", file, "-bf", "x", "--winogrande"}),
              "error: two files given, -f " + file + " and -bf x: name one\n");
    EXPECT_EQ(line({"-f", file, "--hellaswag"}),
              "error: " + file +
                  ": has 4 lines, expected six for each task: the context, the index of the right "
                  "ending, 0 to 3, and four endings\n");
    EXPECT_EQ(line({"-f", write_file("bad.csv", std::string(sentences) + "4,a,b\n").string(),
                    "--winogrande"}),
              "error: " + (own_folder() / "bad.csv").string() +
                  ": line 5: has 3 fields, expected five: index,sentence,choice,choice,answer\n");
    EXPECT_TRUE(std::regex_search(line({"-f", file, "--multiple-choice"}),
                                  std::regex("^error: .*: the list of tasks goes beyond the end of "
                                             "the file\n$")));
    EXPECT_EQ(line({"-f", file, "--winogrande", "-c", "20"}),
              "error: " + file +
                  ": task 1: needs a context of 45 tokens, more than the 20 that there are: -c 45 "
                  "has room for all tasks\n");
    EXPECT_EQ(perplexity({"-f", file, "--winogrande", "-c", "45"}).code, 0);
    EXPECT_TRUE(line({"-f", file, "--winogrande", "-c", "44"}).ends_with(" for all tasks\n"));
    for (const char* name : {"--hellaswag", "--winogrande", "--multiple-choice"}) {
        const std::string option = std::string(name) + "-tasks";
        EXPECT_EQ(line({"-f", file, name, option, "-1"}),
                  "error: " + option + " takes a whole number, 0 or more, not \"-1\"\n");
        EXPECT_EQ(line({"-f", file, name, "--ppl-stride", "5"}),
                  "error: " + std::string(name) +
                      " and --ppl-stride ask for different measures: give one of them\n");
        EXPECT_EQ(line({"-f", file, name, "--kl-divergence-base", "x"}),
                  "error: --kl-divergence-base keeps the predictions of windows side by side, "
                  "which " +
                      std::string(name) + " has none of: give one of them\n");
    }
    EXPECT_EQ(line({"-f", file, "--winogrande", "-np", "0"}),
              "error: --parallel takes a whole number, 1 or more, not \"0\"\n");
    EXPECT_EQ(line({"-f", file, "--hellaswag", "--kl-divergence"}),
              "error: --kl-divergence and --hellaswag ask for different measures: give one of "
              "them\n");
    const Result broken =
        perplexity({"-f", file, "--winogrande"}, changed_tiny_model("broken.gguf", {.scale = NAN}));
    EXPECT_EQ(broken.code, 1);
    EXPECT_TRUE(broken.error.ends_with("error: the model's logits are not all numbers\n"))
        << broken.error;
    const auto few = changed_tiny_model("few.gguf", {.tokens = 270});
    EXPECT_TRUE(perplexity({"-f", file, "--winogrande"}, few)
                    .error.ends_with(" does not exist: the model has tokens 0 to 269\n"));
}

TEST(choosing, notes) {
    const std::string file = write_file("sentences.csv", sentences).string();
    const Result result =
        perplexity({"-f", file, "--winogrande", "--hellaswag-tasks", "5", "--chunks", "3"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.error.find(
                  "note: --hellaswag-tasks has no effect without --hellaswag\n"
                  "note: --chunks has no effect: a text has windows, and --winogrande tasks\n"),
              0u)
        << result.error;
}

TEST(choosing, ends_when_interrupted) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += sentences;
    Process process({"perplexity", "-dev", "reference", "-m", tiny_model().string(), "-f",
                     write_file("many.csv", text).string(), "--winogrande"});
    ASSERT_TRUE(process.has_written(20));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.out.ends_with("\n")) << result.out;
    EXPECT_TRUE(result.error.ends_with("\ninterrupted\n")) << result.error;
}

}  // namespace tandem::test
