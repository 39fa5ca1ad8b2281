// `tandem tokenize` and the forms of its output.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/prompt.h"
#include "cli/tiny_model.h"

namespace tandem::test {

namespace {

Result tokenize(std::vector<std::string> words, const std::string& input = {}) {
    words.insert(words.begin(), {"tokenize", "-m", tiny_model().string()});
    return tandem(std::move(words), input);
}

}  // namespace

TEST(tokenize, lists_tokens_or_ids) {
    EXPECT_EQ(tokenize({"-p", "ab"}).out,
              "     1 -> '<s>'\n   259 -> ' '\n   260 -> 'a'\n   261 -> 'b'\n");
    EXPECT_EQ(tokenize({"-p", "ab", "--ids"}).out, "[1, 259, 260, 261]\n");
    EXPECT_EQ(tokenize({"-p", "ab", "--ids", "--no-bos", "--show-count"}).out,
              "[259, 260, 261]\nTotal number of tokens: 3\n");
    EXPECT_EQ(tokenize({"-p", "", "--ids", "--no-bos"}).out, "[]\n");
    EXPECT_EQ(tokenize({"-p", "-h", "--ids"}).out, "[1, 259, 48, 267]\n");
}

TEST(tokenize, reads_control_tokens_and_escapes) {
    EXPECT_EQ(tokenize({"-p", "</s>", "--ids", "--no-bos"}).out, "[2]\n");
    EXPECT_NE(tokenize({"-p", "</s>", "--ids", "--no-bos", "--no-parse-special"}).out, "[2]\n");
    EXPECT_EQ(tokenize({"-p", "a\\n", "--ids"}).out, "[1, 259, 260, 13]\n");
    EXPECT_EQ(tokenize({"-p", "a\\n", "--ids", "--no-escape"}).out, "[1, 259, 260, 95, 273]\n");
}

TEST(tokenize, takes_files_and_standard_input) {
    std::string file = write_file("text.txt", "ab\n").string();
    EXPECT_EQ(tokenize({"-f", file, "--ids"}).out, "[1, 259, 260, 261]\n");
    EXPECT_EQ(tokenize({"--stdin", "--ids"}, "ab\n").out, "[1, 259, 260, 261]\n");
    EXPECT_EQ(tokenize({"--ids"}, "ab").out, "[1, 259, 260, 261]\n");
    EXPECT_EQ(tokenize({"--stdin", "-p", "x"}).error,
              "error: more than one text given: choose one of -p, -f and standard input\n");
}

TEST(prompt, escapes_are_those_that_others_know) {
    EXPECT_EQ(cli::unescape("a\\nb\\rc\\td"), "a\nb\rc\td");
    EXPECT_EQ(cli::unescape("\\'\\\"\\\\"), "'\"\\");
    EXPECT_EQ(cli::unescape("\\x41\\xe2\\x96\\x81"), "A\xe2\x96\x81");
    for (const char* kept : {"\\q", "\\x4", "\\xg1", "\\x", "\\", "plain"})
        EXPECT_EQ(cli::unescape(kept), kept);
    EXPECT_EQ(cli::unescape("\\\\n"), "\\n");
}

}  // namespace tandem::test
