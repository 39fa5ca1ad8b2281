// `tandem run` as a process: what it writes where, and how it ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <thread>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Of the tiny model, on the reference device.
Words tiny(const Words& more) {
    return with({"run", "-m", tiny_model().string(), "-dev", "reference"}, more);
}

std::string repeated(const std::string& device, int count) {
    std::string list = device;
    for (int i = 1; i < count; ++i) list += "," + device;
    return list;
}

// A pipe that lies in a folder as a file does.
std::filesystem::path new_pipe() {
    const std::filesystem::path path = tiny_model().parent_path() / "pipe";
    std::filesystem::remove(path);
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
}

constexpr const char* modes[] = {"none", "layer", "tensor", "graph"};

// Mode graph with equal shares, so that it cuts whatever that costs.
Words divided(const char* mode, const std::string& device, int count) {
    Words words{"-sm", mode, "-dev", repeated(device, count)};
    if (mode == std::string("graph")) words.insert(words.end(), {"-ts", repeated("1", count)});
    return words;
}

// What llama.cpp writes.
const std::string story =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. "
    "One day, she saw a big, red ball. She wanted to play with it, but it was too high.\n"
    "Lily's mom said, \"Lily, let's go to the park\n";

void expect_story(const std::string& device) {
    if (!std::filesystem::exists(shared("models/stories260K.gguf")))
        GTEST_SKIP() << "needs models/stories260K.gguf of the full data set";
    for (const char* mode : modes)
        for (int count : {1, 2, 3, 5}) {
            Result result = tandem(with({"run", "-m", shared("models/stories260K.gguf").string(),
                                         "-p", "Once upon a time", "-n", "80", "--temp", "0"},
                                        divided(mode, device, count)));
            EXPECT_EQ(result.code, 0) << mode << count << result.error;
            EXPECT_EQ(result.out, story) << mode << count;
        }
}

}  // namespace

TEST(run, writes_the_same_story_however_it_is_divided) { expect_story("reference"); }
TEST(run, writes_the_same_story_on_the_cpu) { expect_story("cpu"); }

TEST(run, writes_the_same_text_however_it_is_divided) {
    std::string text = tandem(tiny({"-p", "abc", "-n", "20", "--temp", "0"})).out;
    EXPECT_TRUE(text.starts_with("abc")) << text;
    for (const char* mode : modes)
        for (int count : {2, 3, 5})
            EXPECT_EQ(tandem(tiny(with({"-p", "abc", "-n", "20", "--temp", "0", "-ub", "2"},
                                       divided(mode, "reference", count))))
                          .out,
                      text)
                << mode << count;
    EXPECT_EQ(tandem(tiny({"-p", "abc", "-n", "20", "--temp", "0", "-ot", "ffn=cpu"})).out, text);
}

TEST(run, takes_the_prompt_from_words_files_or_standard_input) {
    const Words rest{"-n", "5", "--temp", "0"};
    Result result = tandem(tiny(with({"-p", "one two\\tthree"}, rest)));
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(result.out.starts_with("one two\tthree")) << result.out;
    std::string file = write_file("prompt.txt", "one two\\tthree\n").string();
    EXPECT_EQ(tandem(tiny(with({"-f", file}, rest))).out, result.out);
    EXPECT_EQ(tandem(tiny(rest), "one two\\tthree\n").out, result.out);
    EXPECT_EQ(tandem(tiny(with({"-p", "one two\tthree", "--no-escape"}, rest))).out, result.out);
    EXPECT_TRUE(tandem(tiny(with({"-p", "a\\n", "--no-escape"}, rest))).out.starts_with("a\\n"));
    EXPECT_EQ("one two\tthree" +
                  tandem(tiny(with({"-p", "one two\tthree", "--no-display-prompt"}, rest))).out,
              result.out);
}

TEST(run, begins_with_nothing_where_the_prompt_is_empty) {
    Result result = tandem(tiny({"-n", "5", "--temp", "0"}));
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.error.find("prompt: 1 token,"), std::string::npos) << result.error;
}

TEST(run, evaluates_nothing_for_no_tokens) {
    Result result = tandem(tiny({"-p", "abc", "-n", "0"}));
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.error.find("prompt: 0 tokens; generated: 0 tokens"), std::string::npos);
}

TEST(run, ends_where_the_model_says_so) {
    for (const char* limit : {"20", "-1", "-2"}) {
        const Result ended = tandem(tiny({"-p", "abc", "-n", limit, "-l", "2+100"}));
        EXPECT_EQ(ended.code, 0);
        EXPECT_EQ(ended.out, "abc\n");
    }
    EXPECT_NE(tandem({"run", "--help"}).out.find("-1: until the model ends the\n"),
              std::string::npos);
    Result result = tandem(tiny({"-p", "abc", "-n", "20", "-l", "7-inf, 2+100"}));
    EXPECT_EQ(result.out, "abc\n") << result.error;
    result = tandem(tiny({"-p", "abc", "-n", "20", "-l", "2+100", "--ignore-eos"}));
    EXPECT_NE(result.error.find("generated: 20 tokens"), std::string::npos) << result.error;
}

// Behind the text that -r names, which may be part of a token or of several.
TEST(run, ends_where_a_text_says_so) {
    const Words words{"-p", "abc", "-n", "20", "--temp", "0"};
    const std::string all = tandem(tiny(words)).out;
    ASSERT_GT(all.size(), 12u) << all;
    const std::string stop = all.substr(8, 3), until = all.substr(0, all.find(stop, 3) + 3);
    for (const Words& more : {Words{"-r", stop}, {"-r", "no such text", "-r", stop}}) {
        const Result result = tandem(tiny(with(words, more)));
        EXPECT_EQ(result.code, 0) << result.error;
        EXPECT_EQ(result.out, until + "\n");
    }
    EXPECT_EQ(tandem(tiny(with(words, {"-r", "no such text"}))).out, all);
    // Nothing is written of a control token, which ends the text all the same.
    const Words always{"-p", "abc", "-n", "20", "--temp", "0", "--logit-bias", "1+1000"};
    for (const char* first : {"<s>", "no such text"}) {
        const Result result = tandem(tiny(with(always, {"-r", first})));
        EXPECT_NE(result.error.find(first == std::string("<s>") ? "generated: 1 token"
                                                                : "generated: 20 tokens"),
                  std::string::npos)
            << result.error;
    }
    EXPECT_EQ(tandem(tiny(with(words, {"-r", ""}))).error,
              "error: -r takes a text that ends the generation, not an empty one\n");
}

TEST(run, ends_where_the_context_is_full) {
    for (const char* limit : {"-1", "-2", "1000"}) {
        Result result = tandem(tiny({"-p", "abc", "-n", limit, "-c", "16", "--ignore-eos"}));
        EXPECT_EQ(result.code, 0);
        EXPECT_NE(result.error.find("the context is full: the text ends here; -c makes it longer"),
                  std::string::npos)
            << result.error;
        // BOS, a space, three letters; every cell of the context, and one token more.
        EXPECT_NE(result.error.find("generated: 12 tokens"), std::string::npos) << result.error;
    }
}

TEST(run, repeats_itself_by_the_seed) {
    auto text = [](const char* seed) {
        return tandem(tiny({"-p", "abc", "-n", "20", "--temp", "2", "-s", seed})).out;
    };
    EXPECT_EQ(text("7"), text("7"));
    EXPECT_NE(text("7"), text("8"));
    Result result = tandem(tiny({"-p", "abc", "-n", "20", "--temp", "2"}));
    std::smatch seed;
    ASSERT_TRUE(std::regex_search(result.error, seed, std::regex("sampler seed: (\\d+)\n")));
    EXPECT_EQ(text(seed[1].str().c_str()), result.out);
}

TEST(run, takes_the_best_where_the_temperature_is_next_to_0) {
    const std::string best = tandem(tiny({"-p", "abc", "-n", "12", "--temp", "0"})).out;
    for (const char* temperature : {"1e-38", "1e-44"})
        EXPECT_EQ(tandem(tiny({"-p", "abc", "-n", "12", "--temp", temperature, "--top-k", "0",
                               "--top-p", "1", "--min-p", "0", "--seed", "1"}))
                      .out,
                  best)
            << temperature;
}

TEST(run, says_where_no_token_is_left_to_choose) {
    std::string all;
    for (int id = 0; id < 286; ++id) all += (id > 0 ? "," : "") + std::to_string(id) + "-inf";
    for (const char* temperature : {"0", "0.8"}) {
        const Result result =
            tandem(tiny({"-p", "abc", "-n", "4", "-l", all, "--temp", temperature}));
        EXPECT_EQ(result.code, 1);
        EXPECT_EQ(result.out, "abc\n");
        EXPECT_TRUE(std::regex_search(
            result.error, std::regex("\nerror: no token is left to choose: biases .*\n$")))
            << result.error;
    }
}

TEST(run, says_how_it_samples_and_what_that_took) {
    Result result =
        tandem(tiny({"-p", "abc", "-n", "4", "-s", "1", "--samplers", "top_k;nonsense", "--top-p",
                     "0.5", "-dev", "reference,reference", "-sm", "tensor"}));
    EXPECT_TRUE(std::regex_match(
        result.error,
        std::regex(
            "note: there is no sampler \"nonsense\", it is left out; there are .*\n"
            "note: --top-p has no effect: top_p is not among the samplers \\(--samplers\\)\n"
            "sampler seed: 1\n"
            "sampler params:\n"
            "\trepeat_last_n = 64, repeat_penalty = 1\\.000, frequency_penalty = 0\\.000, "
            "presence_penalty = 0\\.000\n"
            "\tdry_multiplier = 0\\.000, dry_base = 1\\.750, dry_allowed_length = 2, "
            "dry_penalty_last_n = 64\n"
            "\ttop_k = 40, top_p = 0\\.500, min_p = 0\\.050, xtc_probability = 0\\.000, "
            "xtc_threshold = 0\\.100, typical_p = 1\\.000, top_n_sigma = -1\\.000, "
            "temp = 0\\.800\n"
            "\tmirostat = 0, mirostat_lr = 0\\.100, mirostat_ent = 5\\.000, "
            "adaptive_target = -1\\.000, adaptive_decay = 0\\.900\n"
            "sampler chain: logits -> top-k -> dist\n"
            "prompt: 5 tokens, \\d+\\.\\d\\d t/s; generated: 4 tokens, \\d+\\.\\d\\d t/s, "
            "\\d+\\.\\d\\d ms per token, \\d+\\.\\d\\d GB/s of weights; exchanges: \\d+ per token, "
            "\\d+\\.\\d % of the time; logits [0-9a-f]{8}\n")))
        << result.error;
    result = tandem(tiny({"-p", "abc", "-n", "4"}));
    EXPECT_NE(result.error.find("; no exchanges; logits "), std::string::npos) << result.error;
}

TEST(run, lists_the_tokens_of_the_prompt) {
    Result result = tandem(tiny({"-p", "ab", "-n", "1", "--verbose-prompt"}));
    EXPECT_NE(result.error.find("number of tokens in prompt = 4\n     1 -> '<s>'\n   259 -> ' '\n"
                                "   260 -> 'a'\n   261 -> 'b'\n"),
              std::string::npos)
        << result.error;
}

TEST(run, begins_once_where_the_prompt_says_so_too) {
    Result result = tandem(tiny({"-p", "<s>ab", "-n", "4", "--temp", "0", "--verbose-prompt"}));
    EXPECT_NE(result.error.find("number of tokens in prompt = 4\n     1 -> '<s>'\n   259 -> ' '\n"
                                "   260 -> 'a'\n   261 -> 'b'\n"),
              std::string::npos)
        << result.error;
    EXPECT_EQ(result.out, "<s>" + tandem(tiny({"-p", "ab", "-n", "4", "--temp", "0"})).out);
    result = tandem(tiny({"-p", "<s>", "-n", "1", "--verbose-prompt"}));
    EXPECT_NE(result.error.find("number of tokens in prompt = 1\n"), std::string::npos);
    // Where the tokenizer adds none, all are the text's.
    const std::string bare =
        changed_tiny_model(
            "bare.gguf",
            {.keys = [](auto& keys) { keys.set_bool("tokenizer.ggml.add_bos_token", false); }})
            .string();
    result = tandem(
        {"run", "-m", bare, "-dev", "reference", "-p", "<s><s>", "-n", "1", "--verbose-prompt"});
    EXPECT_NE(result.error.find("number of tokens in prompt = 2\n"), std::string::npos);
    EXPECT_EQ(tandem({"tokenize", "-m", tiny_model().string(), "-p", "<s>", "--ids"}).out,
              "[1, 1]\n");
}

TEST(run, goes_on_where_the_tokenizer_would_end_texts) {
    const std::string ends =
        changed_tiny_model(
            "ends.gguf",
            {.keys = [](auto& keys) { keys.set_bool("tokenizer.ggml.add_eos_token", true); }})
            .string();
    EXPECT_EQ(tandem({"tokenize", "-m", ends, "-p", "ab", "--ids"}).out, "[1, 259, 260, 261, 2]\n");
    const Result result = tandem({"run", "-m", ends, "-dev", "reference", "-p", "ab", "-n", "4",
                                  "--temp", "0", "--verbose-prompt"});
    EXPECT_NE(result.error.find("number of tokens in prompt = 4\n"), std::string::npos)
        << result.error;
    EXPECT_EQ(result.out, tandem(tiny({"-p", "ab", "-n", "4", "--temp", "0"})).out);
}

TEST(run, takes_the_flags_of_other_programs_scripts) {
    const Words flags[] = {
        {"-ngl", "99", "-fa", "--mlock", "--no-mmap", "-no-cnv", "--temp", "0", "-fa", "on"},
        {"--no-warmup", "--simple-io", "-kvo", "--mirostat", "0"},
        {"-np", "1", "-Cb", "f", "--cpu-mask-batch", "f", "--poll-batch", "0", "--no-fit"},
        {"--dry-multiplier", "0.00", "--rope-freq-scale", "1.0"},
        {"-co", "1", "--no-check-tensors", "--no-cpu-moe", "--no-reasoning-preserve"},
        {"-rtr", "-fmoe", "-mla", "3", "-amb", "512", "-ger", "-thp", "-smgs"}};
    for (const Words& some : flags) {
        const Result result = tandem(with(tiny({"-p", "abc", "-n", "2"}), some));
        EXPECT_EQ(result.code, 0) << result.error;
    }
}

TEST(run, an_interrupt_ends_a_text_cleanly) {
    Process process(tiny({"-p", "abc", "-c", "100000", "-n", "-1", "--ignore-eos"}));
    ASSERT_TRUE(process.has_written(20));
    process.interrupt();
    Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.out.ends_with("\n"));
    EXPECT_TRUE(std::regex_search(
        result.error,
        std::regex(
            "\ninterrupted\nprompt: 5 tokens, .*generated: \\d+ tokens, .*logits \\w{8}\n$")))
        << result.error;
}

TEST(run, an_interrupt_ends_the_wait_for_a_text) {
    const std::filesystem::path pipe = new_pipe();
    for (const char* command : {"run", "perplexity"})
        for (bool has_writer : {false, true}) {
            const int writer = has_writer ? open(pipe.c_str(), O_RDWR | O_CLOEXEC) : -1;
            const auto start = std::chrono::steady_clock::now();
            Process process(
                {command, "-m", tiny_model().string(), "-dev", "reference", "-f", pipe.string()});
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            process.interrupt();
            const Result result = process.finish();
            EXPECT_EQ(result.code, 130) << command;
            EXPECT_NE(result.error.find("interrupted\n"), std::string::npos) << result.error;
            EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
            if (writer >= 0) close(writer);
        }
}

// Of a text that takes long to cut into tokens.
TEST(run, an_interrupt_ends_the_search_for_tokens) {
    const std::filesystem::path text = write_file("long.txt", std::string(20 << 20, 'a'));
    for (const char* command : {"run", "perplexity"}) {
        Process process(
            {command, "-m", tiny_model().string(), "-dev", "reference", "-f", text.string()});
        ASSERT_TRUE(process.takes_interrupts());
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        process.interrupt(SIGTERM);
        const auto start = std::chrono::steady_clock::now();
        const Result result = process.finish();
        EXPECT_EQ(result.code, 128 + SIGTERM) << command << result.error;
        EXPECT_NE(result.error.find("interrupted\n"), std::string::npos) << result.error;
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << command;
    }
}

TEST(run, waits_for_what_comes_through_a_pipe) {
    const std::filesystem::path pipe = new_pipe();
    Process process(tiny({"-f", pipe.string(), "-n", "4", "--temp", "0"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int writer = open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    for (const char* part : {"a", "bc\n"}) {
        EXPECT_GT(write(writer, part, std::strlen(part)), 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    close(writer);
    const Result result = process.finish();
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(result.out, tandem(tiny({"-p", "abc", "-n", "4", "--temp", "0"})).out);
}

TEST(run, says_that_the_model_was_cut_short_while_it_was_read) {
    const std::filesystem::path model = write_file("cut.gguf", read_file(tiny_model()));
    const std::filesystem::path pipe = new_pipe();
    Process process({"run", "-m", model.string(), "-f", pipe.string(), "-n", "2"});
    std::ofstream prompt(pipe);  // waits until it is read, which is before weights are
    std::filesystem::resize_file(model, 0);
    prompt << "abc";
    prompt.close();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(result.error.ends_with(
        "error: a file was cut short, or its disk failed, while it was read\n"))
        << result.error;
}

TEST(run, an_interrupt_ends_a_long_prompt) {
    std::string file = write_file("long.txt", std::string(90000, 'a')).string();
    int tokens = 0;
    // How long it takes to the first step depends on what else the machine does.
    for (int milliseconds = 200; tokens == 0 && milliseconds < 10000; milliseconds *= 2) {
        Process process(tiny({"-f", file, "-c", "100000", "-n", "1", "-ub", "16"}));
        ASSERT_TRUE(process.has_written(0, 10));
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        process.interrupt();
        Result result = process.finish();
        EXPECT_EQ(result.code, 130);
        EXPECT_EQ(result.out, "");  // the echo comes behind the work
        std::smatch read;
        ASSERT_TRUE(std::regex_search(
            result.error, read,
            std::regex("\ninterrupted\nprompt: (\\d+) tokens\\b.*; generated: 0 tokens\n")))
            << result.error;
        tokens = std::stoi(read[1]);
    }
    EXPECT_GT(tokens, 0);
    EXPECT_LT(tokens, 90000);
}

TEST(run, a_second_interrupt_ends_the_process_at_once) {
    Process process(tiny({"-p", "abc", "-c", "100000", "-n", "-1", "--ignore-eos"}));
    ASSERT_TRUE(process.has_written(20));
    for (int i = 0; i < 20; ++i) {
        process.interrupt();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130) << result.signal;
}

TEST(run, an_interrupt_at_any_time_is_the_same) {
    for (int delay : {20, 25, 30, 40, 60, 100}) {
        Process process(tiny({"-p", "abc", "-c", "100000", "-n", "-1", "--ignore-eos"}));
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        process.interrupt();
        // What has hardly begun ends as any process does.
        const Result result = process.finish();
        EXPECT_TRUE(result.code == 130 || result.signal == SIGINT) << delay << ": " << result.code;
    }
}

TEST(run, ends_quietly_where_no_one_reads_on) {
    Process process(tiny({"-p", "abc", "-c", "100000", "-n", "-1", "--ignore-eos"}));
    ASSERT_TRUE(process.has_written(20));
    process.close_out();
    EXPECT_EQ(process.finish().signal, SIGPIPE);
}

}  // namespace tandem::test
