// Texts that go on where their context is full, without their older half.
#include "cli/context_shift.h"

#include <gtest/gtest.h>

#include <numeric>
#include <regex>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;
using cli::Arguments;
using cli::ContextShift;

ContextShift shift(const std::string& keep, bool adds_bos) {
    std::map<std::string, std::vector<std::string>, std::less<>> values;
    values["context-shift"] = {"on"};
    values["keep"] = {keep};
    return ContextShift(Arguments(values), adds_bos);
}

// Of tokens 0 to 16, behind a prompt of 5.
std::vector<int32_t> shifted(ContextShift shift, int64_t opening = 0) {
    std::vector<int32_t> text(17);
    std::iota(text.begin(), text.end(), 0);
    shift.begin(5, opening);
    return shift.shifted(text);
}

Result write(const Words& more) {
    Words words{"run",    "-m", tiny_model().string(), "-p",  "abc", "-c", "16", "-n", "50",
                "--temp", "0",  "--ignore-eos",        "-dev"};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

bool says(const Result& result, const std::string& text) {
    return result.error.find(text) != std::string::npos;
}

}  // namespace

TEST(ContextShift, forgets_half_of_what_is_not_kept) {
    EXPECT_EQ(shifted(shift("0", false)), (std::vector<int32_t>{8, 9, 10, 11, 12, 13, 14, 15, 16}));
    // The token in front of the prompt, and two more.
    EXPECT_EQ(shifted(shift("2", true)),
              (std::vector<int32_t>{0, 1, 2, 9, 10, 11, 12, 13, 14, 15, 16}));
    // No more than the prompt, and no less than what a conversation opens with.
    const std::vector<int32_t> prompt{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16};
    EXPECT_EQ(shifted(shift("9", false)), prompt);
    EXPECT_EQ(shifted(shift("-1", true)), prompt);
    EXPECT_EQ(shifted(shift("0", false), 5), prompt);
}

TEST(ContextShift, lets_texts_go_on) {
    const Result result = write({"reference", "--context-shift", "--keep", "2"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_FALSE(says(result, "the context is full"));
    EXPECT_TRUE(says(result, "generated: 50 tokens")) << result.error;
    // The context is full with 12 tokens, and with every 6 more: then 3 stay, 6 are forgotten and 7
    // evaluated anew. The prompt had 5.
    EXPECT_TRUE(says(result, "prompt: 54 tokens")) << result.error;
    // Until then, nothing is different.
    const Result full = write({"reference"});
    EXPECT_TRUE(says(full, "the context is full"));
    const std::string begin = full.out.substr(0, full.out.size() - 1);
    EXPECT_TRUE(result.out.starts_with(begin)) << result.out;
    EXPECT_TRUE(says(write({"reference", "--context-shift", "-n", "-2"}), "the context is full"));
    EXPECT_EQ(write({"reference,reference", "-sm", "tensor", "--context-shift", "--keep", "2"}).out,
              result.out);
    EXPECT_EQ(write({"reference", "--context-shift", "--keep", "-2"}).error,
              "error: --keep takes a whole number, -1 or more, not \"-2\"\n");
}

// Where what is left goes on as what was there, nothing is evaluated anew.
TEST(ContextShift, of_a_text_that_repeats_itself) {
    const std::string model = data("fixtures/qwen2.gguf").string();
    const Result result =
        tandem({"run", "-m", model, "-dev", "reference", "-p", "aaaaaaaa", "-no-cnv", "-c", "32",
                "-n", "60", "-l", "64+1000", "--temp", "0", "--context-shift"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(says(result, "generated: 60 tokens")) << result.error;
    EXPECT_TRUE(says(result, "prompt: 8 tokens")) << result.error;
}

}  // namespace tandem::test
