#include "model/tokenizer/utf8_stream.h"

#include <gtest/gtest.h>

namespace tandem::model {
namespace {

TEST(Utf8Stream, holds_back_an_unfinished_sequence) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("a\xF0"), "a");
    EXPECT_EQ(stream.push("\x9F"), "");
    EXPECT_EQ(stream.push("\x99"), "");
    EXPECT_EQ(stream.push("\x82!"), "\U0001F642!");
    EXPECT_EQ(stream.push("b"), "b");
    EXPECT_EQ(stream.flush(), "");
}

TEST(Utf8Stream, lets_go_of_bytes_that_can_never_become_valid) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("\x80"), "\x80") << "a continuation without a lead";
    EXPECT_EQ(stream.push("\xC0"), "\xC0") << "leads nothing";
    EXPECT_EQ(stream.push("\xE2\x82"), "");
    EXPECT_EQ(stream.push("x"), "\xE2\x82x");
    EXPECT_EQ(stream.push("\xE0\x80"), "\xE0\x80") << "overlong";
    EXPECT_EQ(stream.push("\xE2\xE2"), "\xE2");
    EXPECT_EQ(stream.push("\x82\xAC"), "\u20AC");
}

TEST(Utf8Stream, flush_gives_back_what_waits) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("ok\xE2\x82"), "ok");
    EXPECT_EQ(stream.flush(), "\xE2\x82");
    EXPECT_EQ(stream.push("\xAC"), "\xAC");
}

TEST(Utf8Stream, a_text_in_single_bytes_comes_out_in_whole_characters) {
    const std::string text = "na\u00EFve \u4E2D\u6587 \U0001F642\U0001F468";
    Utf8Stream stream;
    std::string all;
    for (const char byte : text) {
        const std::string shown = stream.push({&byte, 1});
        EXPECT_TRUE(shown.empty() || (shown.front() & 0xC0) != 0x80);
        all += shown;
    }
    EXPECT_EQ(all + stream.flush(), text);
}

}  // namespace
}  // namespace tandem::model
