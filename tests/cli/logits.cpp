// `tandem logits` as a process.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "nmse.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

struct Logits {
    Result result;
    std::vector<float> values;
    std::vector<int32_t> greedy;
};

Logits logits(const std::filesystem::path& model, const std::string& tokens, const Words& more) {
    std::filesystem::path out = write_file("out.f32", "");
    Words words{"logits", "-m", model.string(), "--tokens", tokens, "-o", out.string()};
    words.insert(words.end(), more.begin(), more.end());
    Logits logits{.result = tandem(words)};
    std::string bytes = read_file(out);
    logits.values.resize(bytes.size() / sizeof(float));
    std::memcpy(logits.values.data(), bytes.data(), logits.values.size() * sizeof(float));
    if (logits.result.code == 0)
        logits.greedy =
            nlohmann::json::parse(logits.result.out)["greedy"].get<std::vector<int32_t>>();
    return logits;
}

}  // namespace

TEST(logits, one_row_for_each_token_and_each_greedy_step) {
    Logits plain = logits(tiny_model(), "1,260,261", {"-dev", "reference"});
    EXPECT_EQ(plain.result.code, 0) << plain.result.error;
    EXPECT_EQ(plain.result.out, "{\"greedy\":[]}\n");
    ASSERT_EQ(plain.values.size(), 3u * 286);
    Logits greedy = logits(tiny_model(), "[1, 260, 261]", {"--greedy", "4", "-dev", "reference"});
    ASSERT_EQ(greedy.values.size(), 7u * 286);
    ASSERT_EQ(greedy.greedy.size(), 4u);
    // Each row is the one by which its token was chosen; the first repeats the prompt's last.
    for (size_t step = 0; step < 4; ++step) {
        auto row = greedy.values.begin() + int64_t(3 + step) * 286;
        EXPECT_EQ(std::max_element(row, row + 286) - row, greedy.greedy[step]);
    }
    EXPECT_TRUE(std::equal(plain.values.begin(), plain.values.end(), greedy.values.begin()));
    EXPECT_TRUE(
        std::equal(plain.values.end() - 286, plain.values.end(), greedy.values.begin() + 3 * 286));
    // Evaluated at once, the greedy tokens give the same rows.
    std::string all = "1,260,261";
    for (size_t i = 0; i < 3; ++i) all += "," + std::to_string(greedy.greedy[i]);
    std::vector<float> rows = logits(tiny_model(), all, {"-dev", "reference"}).values;
    ASSERT_EQ(rows.size(), 6u * 286);
    EXPECT_LT(nmse({rows.begin() + 3 * 286, rows.end()},
                   {greedy.values.begin() + 4 * 286, greedy.values.end()}),
              1e-9);
}

TEST(logits, the_same_however_the_model_is_divided) {
    std::string tokens = "1";
    for (int i = 0; i < 40; ++i) tokens += "," + std::to_string(259 + i * 7 % 27);
    Logits one = logits(tiny_model(), tokens, {"--greedy", "5", "-dev", "reference"});
    for (const char* mode : {"layer", "tensor", "graph"})
        for (int count : {2, 3}) {
            const char* devices =
                count == 2 ? "reference,reference" : "reference,reference,reference";
            Words words{"--greedy", "5", "-sm", mode, "-dev", devices, "-ub", "16"};
            if (mode == std::string("graph"))  // to cut whatever it costs
                words.insert(words.end(), {"-ts", count == 2 ? "1,1" : "1,1,1"});
            Logits divided = logits(tiny_model(), tokens, words);
            EXPECT_EQ(divided.greedy, one.greedy) << mode << devices;
            EXPECT_LT(nmse(divided.values, one.values), 1e-9) << mode << devices;
        }
}

// What is rounded is what devices add up: to 11 or to 8 bits.
TEST(logits, go_through_the_reduce_type) {
    const auto golden =
        nlohmann::json::parse(std::ifstream(data("fixtures/llama-rope-factors.tokens.json")));
    const std::string tokens = golden["tokens"].dump();
    auto of_type = [&](const char* type, const char* devices) {
        return logits(data("fixtures/llama-rope-factors.gguf"), tokens,
                      {"-ctk", "f32", "-ctv", "f32", "-sm", "tensor", "--reduce-type", type, "-dev",
                       devices})
            .values;
    };
    const std::vector<float> exact = of_type("f32", "reference");
    EXPECT_EQ(of_type("bf16", "reference"), exact) << "one device adds nothing up";
    const char* three = "reference,reference,reference";
    EXPECT_LT(nmse(of_type("f32", three), exact), 1e-10);
    const std::vector<float> half = of_type("f16", three), brain = of_type("bf16", three);
    EXPECT_GT(nmse(half, exact), 1e-8);
    EXPECT_LT(nmse(half, exact), 2e-6);
    EXPECT_GT(nmse(brain, exact), 5e-6);
    EXPECT_LT(nmse(brain, exact), 5e-4);
    EXPECT_EQ(of_type("f16", three), half) << "a repeated run";
}

TEST(logits, those_of_the_golden_files) {
    std::filesystem::path fixture = shared("fixtures/llama-gqa.gguf");
    if (!std::filesystem::exists(fixture)) GTEST_SKIP() << "needs fixtures/llama-gqa.gguf";
    auto golden = nlohmann::json::parse(std::ifstream(shared("fixtures/llama-gqa.tokens.json")));
    std::string bytes = read_file(shared("fixtures/llama-gqa.logits.f32")) +
                        read_file(shared("fixtures/llama-gqa.greedy.f32"));
    std::vector<float> expected(bytes.size() / sizeof(float));
    std::memcpy(expected.data(), bytes.data(), bytes.size());
    size_t steps = golden["greedy"].size();
    Logits found = logits(
        fixture, golden["tokens"].dump(),
        {"--greedy", std::to_string(steps), "-ctk", "f32", "-ctv", "f32", "-dev", "reference"});
    EXPECT_EQ(found.greedy, golden["greedy"].get<std::vector<int32_t>>());
    EXPECT_LT(nmse(found.values, expected), 1e-9);
}

TEST(logits, leave_a_file_alone_until_there_are_others) {
    const std::string precious = write_file("precious.f32", "precious").string();
    const std::string fresh = (tiny_model().parent_path() / "fresh.f32").string();
    for (const std::string& path : {precious, fresh})
        EXPECT_EQ(tandem({"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens",
                          "5000", "-o", path})
                      .error.substr(0, 32),
                  "error: token 5000 does not exist");
    EXPECT_EQ(read_file(precious), "precious");
    EXPECT_FALSE(std::filesystem::exists(fresh));
}

// The rows are written, but nothing is chosen by them.
TEST(logits, choose_nothing_where_they_are_no_numbers) {
    const auto model = changed_tiny_model("nan.gguf", {.scale = NAN});
    EXPECT_EQ(logits(model, "1,260", {}).values.size(), 2u * 286);
    const Logits greedy = logits(model, "1,260", {"--greedy", "2"});
    EXPECT_EQ(greedy.result.code, 1);
    EXPECT_NE(greedy.result.error.find("error: the model's answer is not a number: "),
              std::string::npos)
        << greedy.result.error;
}

TEST(perplexity, ends_where_they_are_no_numbers) {
    const auto model = changed_tiny_model("nan.gguf", {.scale = NAN});
    const auto text = write_file("abc.txt", std::string(64, 'a'));
    const Result result = tandem(
        {"perplexity", "-m", model.string(), "-dev", "reference", "-f", text.string(), "-c", "8"});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out.find("nan"), std::string::npos) << result.out;
    EXPECT_NE(result.error.find("error: the model's logits are not all numbers\n"),
              std::string::npos)
        << result.error;
}

// The first file that is opened would become standard output otherwise.
TEST(logits, do_not_mix_with_what_standard_output_would_get) {
    const std::filesystem::path out = write_file("closed.f32", "");
    const std::string command = quoted(TANDEM_BINARY) + " logits -dev reference -m " +
                                quoted(tiny_model()) + " --tokens 1 -o " + quoted(out) + " >&-";
    EXPECT_EQ(shell(command).code, 1);
    EXPECT_EQ(read_file(out).size(), 286 * sizeof(float));
}

TEST(logits, never_take_the_place_of_a_model) {
    const std::filesystem::path model = write_file("self.gguf", read_file(tiny_model())),
                                link = model.parent_path() / "link.f32";
    std::filesystem::remove(link);
    std::filesystem::create_symlink(model, link);
    for (const std::filesystem::path& path : {model, link})
        EXPECT_EQ(
            tandem({"logits", "-m", model.string(), "--tokens", "1", "-o", path.string()}).error,
            "error: cannot write the logits to " + path.string() + ": it is a model\n");
    EXPECT_EQ(read_file(model), read_file(tiny_model()));
}

TEST(logits, an_interrupt_ends_the_wait_for_a_reader) {
    const std::filesystem::path pipe = tiny_model().parent_path() / "pipe.f32";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Process process({"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens", "1",
                     "-o", pipe.string()});
    ASSERT_TRUE(process.takes_interrupts());
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(result.error, "interrupted\n");
    std::filesystem::remove(pipe);
}

TEST(logits, an_interrupt_ends_the_wait_for_a_device_table) {
    const std::filesystem::path pipe = tiny_model().parent_path() / "pipe.json";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Process process({"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens", "1",
                     "-o", "/dev/null", "--device-table", pipe.string()});
    ASSERT_TRUE(process.takes_interrupts());
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.error.starts_with("interrupted\n")) << result.error;
    std::filesystem::remove(pipe);
}

TEST(logits, help_and_notes_say_how_long_the_context_is) {
    const std::string help = tandem({"logits", "--help"}).out;
    EXPECT_NE(help.find("(default: those of"), std::string::npos);
    EXPECT_EQ(help.find("4096"), std::string::npos);
    EXPECT_EQ(logits(tiny_model(), "1", {"--greedy", "63"}).result.error.find("note: "),
              std::string::npos);
    EXPECT_EQ(logits(tiny_model(), "1", {"--greedy", "64"})
                  .result.error.find("note: a context of 65 tokens is longer than the 64 that the "
                                     "model was trained for\n"),
              0u);
}

TEST(logits, an_interrupt_leaves_tokens_with_their_rows) {
    const std::filesystem::path out = write_file("interrupted.f32", "");
    Process process({"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens", "1",
                     "--greedy", "20000", "-o", out.string()});
    for (int i = 0; i < 1000 && std::filesystem::file_size(out) < 100000; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    const size_t tokens = nlohmann::json::parse(result.out)["greedy"].size();
    EXPECT_EQ(std::filesystem::file_size(out), (1 + tokens) * 286 * sizeof(float));
}

TEST(logits, an_interrupt_ends_it) {
    std::string tokens = "1";
    for (int i = 0; i < 30000; ++i) tokens += ",260";
    Process process({"logits", "-m", tiny_model().string(), "-dev", "reference", "--tokens", tokens,
                     "-c", "30001", "-o", "/dev/null"});
    ASSERT_TRUE(process.has_written(0, 10));  // the note about the context
    process.interrupt();
    Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(result.out, "");
}

}  // namespace tandem::test
