// `tandem perplexity` as a process.
#include <gtest/gtest.h>

#include <regex>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

std::string text_of(int words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += "word " + std::string(1, char('a' + i % 26)) + " ";
    return text;
}

Result perplexity(const std::filesystem::path& model, const std::filesystem::path& text,
                  const Words& more) {
    Words words{"perplexity", "-m", model.string(), "-f", text.string()};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

TEST(Perplexity, says_what_llama_perplexity_says) {
    const auto text = write_file("text.txt", text_of(30));
    const Result result =
        perplexity(tiny_model(), text, {"-c", "16", "--chunks", "3", "-dev", "reference"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex(R"(\[1\]\d+\.\d{4},\[2\]\d+\.\d{4},\[3\]\d+\.\d{4},\n)"
                               R"(Final estimate: PPL = \d+\.\d{4} \+/- \d+\.\d{5}\n)")))
        << result.out;
    EXPECT_NE(result.error.find("perplexity: calculating perplexity over 3 chunks, n_ctx=16, "
                                "batch_size=2048, n_seq=3\n"),
              std::string::npos)
        << result.error;
    EXPECT_TRUE(std::regex_search(
        result.error,
        std::regex(R"(perplexity: \d+\.\d\d seconds per pass - ETA \d+\.\d\d minutes\n)")));
    const Result lines =
        perplexity(tiny_model(), text,
                   {"-c", "16", "--ppl-output-type", "1", "--chunks", "2", "-dev", "reference"});
    EXPECT_TRUE(
        std::regex_match(lines.out, std::regex(R"(       0  \d+\.\d{4}  \d\.\d{6}  \d\.\d{6}\n)"
                                               R"(      16  \d+\.\d{4}  \d\.\d{6}  \d\.\d{6}\n)"
                                               R"(Final estimate: PPL = .*\n)")))
        << lines.out;
}

// Windows of -c and half of the stride, whose last tokens are predicted.
TEST(Perplexity, of_windows_that_overlap) {
    const auto text = write_file("text.txt", text_of(30));
    const Words sizes{"-c", "12", "--chunks", "3", "-dev", "reference", "--ppl-stride", "8"};
    const Result result = perplexity(tiny_model(), text, sizes);
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex(R"(\[1\]\d+\.\d{4},\[2\]\d+\.\d{4},\[3\]\d+\.\d{4},\n)")))
        << result.out;
    EXPECT_NE(result.error.find("perplexity: calculating perplexity over 3 chunks, n_ctx=16, "),
              std::string::npos)
        << result.error;
    Words more = sizes;
    more.insert(more.end(), {"--ppl-output-type", "1"});
    const Result lines = perplexity(tiny_model(), text, more);
    EXPECT_TRUE(std::regex_match(lines.out, std::regex(R"(       0  \d+\.\d{4}\n)"
                                                       R"(       8  \d+\.\d{4}\n)"
                                                       R"(      16  \d+\.\d{4}\n)")))
        << lines.out;
    // A window of seven half predicted tokens is one whose stride is three.
    auto first = [&](const Words& words) {
        return std::stod(perplexity(tiny_model(), text, words).out.substr(4));
    };
    EXPECT_NEAR(first({"-c", "6", "--ppl-stride", "3", "-dev", "reference"}),
                first({"-c", "7", "-dev", "reference"}), 2e-4);

    // As many windows as begin a stride apart, with a token behind each.
    auto count = [&](const Words& words) {
        const std::string out = perplexity(tiny_model(), text, words).out;
        return std::count(out.begin(), out.end(), '[');
    };
    const auto eight = write_file("eight.txt", "abcdef");  // with BOS and a space
    EXPECT_EQ(perplexity(tiny_model(), eight, {"-c", "6", "--ppl-stride", "2", "-dev", "reference"})
                  .out.substr(0, 3),
              "[1]");
    EXPECT_GT(count({"-c", "6", "--ppl-stride", "3"}), count({"-c", "6", "--ppl-stride", "5"}));
    auto line = [&](const std::filesystem::path& file, const Words& words) {
        const Result result = perplexity(tiny_model(), file, words);
        EXPECT_EQ(result.code, 1);
        return result.error;
    };
    EXPECT_TRUE(line(eight, {"-c", "7", "--ppl-stride", "2"})
                    .ends_with("error: the text has 8 tokens, and windows 8, as -c and "
                               "--ppl-stride say: they have to be shorter than the text\n"));
    EXPECT_EQ(line(text, {"-c", "6", "--ppl-stride", "11"}),
              "error: --ppl-stride 11 leaves tokens between windows: with -c 6 they begin 10 apart "
              "at most\n");
    EXPECT_EQ(line(text, {"--ppl-stride", "x"}),
              "error: --ppl-stride takes a whole number, 0 or more, not \"x\"\n");
    EXPECT_EQ(line(text, {"--ppl-stride", "5", "--kl-divergence-base", "x"}),
              "error: --kl-divergence-base keeps the predictions of windows side by side, which "
              "--ppl-stride has none of: give one of them\n");
}

TEST(Perplexity, of_a_binary_file_is_that_of_all_its_bytes) {
    const std::string text = write_file("text.txt", text_of(30)).string(),
                      line = write_file("line.txt", text_of(30) + "\n").string(),
                      lines = write_file("lines.txt", text_of(30) + std::string(9, '\n')).string();
    auto of = [](const char* option, const std::string& file) {
        const Result result = tandem({"perplexity", "-m", tiny_model().string(), "-dev",
                                      "reference", "-c", "4", option, file});
        EXPECT_EQ(result.code, 0) << result.error;
        return result.out;
    };
    EXPECT_EQ(of("-bf", text), of("-f", text));
    EXPECT_EQ(of("-f", line), of("-f", text));
    EXPECT_NE(of("-bf", lines), of("-f", text));
    EXPECT_NE(of("-f", lines), of("-f", text));
}

TEST(Perplexity, writes_all_digits_of_a_number) {
    const auto sure = changed_tiny_model("sure.gguf", {.scale = 700});
    const auto text = write_file("text.txt", text_of(30));
    const Result result = perplexity(
        sure, text, {"-c", "16", "--chunks", "2", "--ppl-output-type", "1", "-dev", "reference"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex(R"(( +\d+  \d{256,}\.\d{4}  \d+\.\d{6}  \d+\.\d{6}\n){2})"
                               R"(Final estimate: PPL = \d{256,}\.\d{4} \+/- \d{256,}\.\d{5}\n)")))
        << result.out;
}

TEST(Perplexity, tells_the_time_before_the_values) {
    const auto text = write_file("text.txt", text_of(60));
    const Result result = shell(quoted(TANDEM_BINARY) + " perplexity -dev reference -c 16 -m " +
                                quoted(tiny_model()) + " -f " + quoted(text) + " 2>&1");
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(std::regex_search(result.out, std::regex(R"(- ETA .* minutes\n\[1\]\d)")))
        << result.out;
}

// The same model differs from itself by what the file rounds; another one by more.
TEST(Perplexity, compares_with_what_was_kept) {
    const auto text = write_file("text.txt", text_of(60));
    const std::string base = write_file("base.kld", "").string();
    const Words sizes{"-c", "16", "--chunks", "3", "-dev", "reference"};
    const Result kept = perplexity(
        tiny_model(), text,
        {"-c", "16", "--chunks", "3", "-dev", "reference", "--kl-divergence-base", base});
    EXPECT_EQ(kept.code, 0) << kept.error;
    EXPECT_EQ(kept.out, perplexity(tiny_model(), text, sizes).out);
    const auto compare = [&](const std::filesystem::path& model, const Words& more) {
        Words words{"perplexity",           "-m", model.string(),   "-dev", "reference",
                    "--kl-divergence-base", base, "--kl-divergence"};
        words.insert(words.end(), more.begin(), more.end());
        return tandem(words);
    };
    const Result same = compare(tiny_model(), {});
    EXPECT_EQ(same.code, 0) << same.error;
    EXPECT_TRUE(
        std::regex_search(same.out, std::regex(R"(^chunk .*\n   1 .*\n   2 .*\n   3 .*\n\n)")))
        << same.out;
    EXPECT_TRUE(std::regex_search(same.out, std::regex(R"(\nMean    KLD: +-?0\.0000)")))
        << same.out;
    EXPECT_NE(same.out.find("\nSame top p: 100.000 \u00b1 0.000 %\n"), std::string::npos)
        << same.out;
    // In steps of other sizes, too, and of fewer chunks.
    EXPECT_NE(compare(tiny_model(), {"-ub", "5", "-b", "5"}).out.find("\nSame top p: 100.000 "),
              std::string::npos);
    const std::string two = compare(tiny_model(), {"--chunks", "2"}).out;
    EXPECT_NE(two.find("\n   2 "), std::string::npos) << two;
    EXPECT_EQ(two.find("\n   3 "), std::string::npos) << two;
    const Result divided = compare(tiny_model(), {"-dev", "reference,cpu", "-sm", "tensor"});
    EXPECT_TRUE(std::regex_search(divided.out, std::regex(R"(\nMean    KLD: +-?0\.000)")))
        << divided.out << divided.error;
    const Result other = compare(changed_tiny_model("other.gguf", {.scale = 3}), {});
    EXPECT_EQ(other.code, 0);
    EXPECT_TRUE(std::regex_search(other.out, std::regex(R"(\nMean    KLD: +(0\.[1-9]|[1-9]))")))
        << other.out;

    EXPECT_EQ(compare(tiny_model(), {"-c", "8"}).error,
              "error: a context of 8 tokens is less than the 16 of each chunk of " + base + "\n");
    EXPECT_EQ(compare(changed_tiny_model("few.gguf", {.tokens = 270}), {}).error,
              "error: " + base + " is of a model with 286 tokens, and this one has 270\n");
    EXPECT_EQ(compare(tiny_model(), {"-f", text.string()})
                  .error.find("note: -f has no effect: the text is that of " + base + "\n"),
              0u);
    EXPECT_TRUE(perplexity(tiny_model(), text, {"-c", "16", "--kl-divergence-base", text.string()})
                    .error.ends_with("error: --kl-divergence-base would be written over the text "
                                     "in " +
                                     text.string() + "\n"));
    EXPECT_EQ(tandem({"perplexity", "-m", tiny_model().string(), "--kl-divergence"}).error,
              "error: nothing to compare with: --kl-divergence-base names the file that a run with "
              "it, and without --kl-divergence, wrote\n");
}

TEST(Perplexity, ends_its_line_when_interrupted) {
    const std::string text = write_file("text.txt", text_of(50000)).string();
    Process process({"perplexity", "-dev", "reference", "-c", "16", "-b", "16", "-m",
                     tiny_model().string(), "-f", text});
    ASSERT_TRUE(process.has_written(20));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.out.ends_with(",\n")) << result.out;
    EXPECT_TRUE(result.error.ends_with(" minutes\ninterrupted\n")) << result.error;
}

TEST(Perplexity, errors) {
    const auto text = write_file("short.txt", "abc");
    EXPECT_EQ(perplexity(tiny_model(), text, {}).error.substr(0, 6), "perple");
    const Result few = perplexity(tiny_model(), text, {"-c", "16"});
    EXPECT_EQ(few.code, 1);
    EXPECT_NE(few.error.find("error: you need at least 32 tokens to evaluate perplexity with a "
                             "context of 16: the data file you provided tokenizes to only 5 "
                             "tokens\n"),
              std::string::npos)
        << few.error;
    EXPECT_EQ(perplexity(tiny_model(), "/no/text", {}).error,
              "error: cannot read the text from /no/text: No such file or directory\n");
    EXPECT_EQ(perplexity(tiny_model(), "/", {}).error,
              "error: cannot read the text from /: Is a directory\n");
    const Result long_windows = perplexity(tiny_model(), text, {"-c", "2000000000"});
    EXPECT_NE(long_windows.error.find("error: you need at least 4000000000 tokens to evaluate "),
              std::string::npos)
        << long_windows.error;
    const Result one = perplexity(tiny_model(), write_file("one.txt", "abcdefghijkl"),
                                  {"-c", "4", "--chunks", "1", "-dev", "reference"});
    EXPECT_EQ(one.code, 1);
    EXPECT_TRUE(
        one.error.ends_with("\nerror: one prediction has no standard deviation; a longer "
                            "text has more of them\n"))
        << one.error;
    // Before anything takes time.
    EXPECT_EQ(perplexity(tiny_model(), "/no/text", {"--ppl-output-type", "2"}).error,
              "error: --ppl-output-type takes a whole number from 0 to 1, not \"2\"\n");
    EXPECT_EQ(tandem({"perplexity", "-m", tiny_model().string()}).error,
              "error: no text given: name a file with -f\n");
}

TEST(Perplexity, tokens_that_the_model_has_no_logits_for_are_refused) {
    const auto few = changed_tiny_model("few.gguf", {.tokens = 270});
    const auto known = write_file("known.txt", std::string(40, 'j')),
               text = write_file("unknown.txt", std::string(39, 'j') + "k");
    const Words sizes{"-c", "7", "-dev", "reference"};
    EXPECT_EQ(perplexity(few, known, sizes).code, 0);
    const std::string line = "error: token 270 does not exist: the model has tokens 0 to 269\n";
    const Result result = perplexity(few, text, sizes);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.error.ends_with(line)) << result.error;
    // The tokenizer may name such a token for the first.
    const auto bos =
        changed_tiny_model("bos.gguf", {.tokens = 270, .keys = [](auto& metadata) {
                                            metadata.set_u32("tokenizer.ggml.bos_token_id", 270);
                                            metadata.set_bool("tokenizer.ggml.add_bos_token", true);
                                        }});
    EXPECT_TRUE(perplexity(bos, known, sizes).error.ends_with(line));
    const Result measured =
        tandem({"bench", "-m", bos.string(), "-dev", "reference", "-p", "4", "-n", "0", "-r", "1"});
    EXPECT_EQ(measured.code, 1);
    EXPECT_TRUE(measured.error.ends_with(line)) << measured.error;
}

// The last number of "Final estimate: PPL = 4.1212 +/- 0.09485" but one.
double estimate(const Result& result) {
    const size_t at = result.out.find("PPL = ");
    return at == std::string::npos ? 0 : std::stod(result.out.substr(at + 6));
}

struct Known {
    const char* model;
    const char* text;
    const char* context;
    double value, tolerance;
};

void expect_known(const Known& known, const Words& devices) {
    Words more{"-c", known.context, "--chunks", "100", "-ctk", "f32", "-ctv", "f32"};
    more.insert(more.end(), devices.begin(), devices.end());
    const Result result = perplexity(shared(std::string("models/") + known.model + ".gguf"),
                                     shared(std::string("texts/") + known.text), more);
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NEAR(estimate(result) / known.value, 1, known.tolerance)
        << known.model << " " << known.text << " " << devices.back();
}

// What llama.cpp gives for 100 windows; for quantised weights other roundings differ a little.
TEST(Perplexity, is_that_of_llama_perplexity) {
    if (!std::filesystem::exists(shared("models/stories260K.gguf")))
        GTEST_SKIP() << "needs the models of the full data set";
    const Known stories{"stories260K", "tinystories-sample.txt", "128", 4.1212, 0.001};
    for (const Known& known :
         {stories, Known{"stories260K", "tinystories-sample.txt", "256", 4.4295, 0.001},
          Known{"stories260K", "wiki.test.raw", "128", 95.9891, 0.001},
          Known{"stories260K", "wiki.test.raw", "256", 115.7017, 0.001},
          Known{"stories-wide-Q4_0", "tinystories-sample.txt", "128", 4.1639, 0.005},
          Known{"stories-wide-Q4_K_M", "tinystories-sample.txt", "128", 4.1577, 0.005},
          Known{"stories-moe-Q4_K_M", "tinystories-sample.txt", "128", 4.1838, 0.005}})
        expect_known(known, {"-dev", "cpu"});
    expect_known(stories, {"-dev", "cpu,cpu", "-sm", "layer"});
    expect_known(stories, {"-dev", "cpu,cpu,cpu", "-sm", "tensor", "-ub", "100"});
}

}  // namespace

}  // namespace tandem::test
