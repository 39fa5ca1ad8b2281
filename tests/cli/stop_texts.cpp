// Texts that end a generation, cut into tokens in every way.
#include "cli/stop_texts.h"

#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

// What is written of the pieces; "..." behind it where nothing ended them.
std::string written(StopTexts texts, const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces) {
        const std::optional<size_t> end = texts.find_end(piece);
        text += piece.substr(0, end.value_or(piece.size()));
        if (end) return text;
    }
    return text + "...";
}

TEST(StopTexts, end_a_text_however_it_is_cut) {
    const std::string text = "one\n\ntwo";
    for (unsigned cuts = 0; cuts < 1u << (text.size() - 1); ++cuts) {
        std::vector<std::string> pieces(1);
        for (size_t i = 0; i < text.size(); ++i) {
            if (i > 0 && cuts >> (i - 1) & 1) pieces.emplace_back();
            pieces.back() += text[i];
        }
        EXPECT_EQ(written(StopTexts({"\n\n"}), pieces), "one\n\n") << cuts;
        EXPECT_EQ(written(StopTexts({"two", "\n\nt", "xyz"}), pieces), "one\n\nt") << cuts;
        EXPECT_EQ(written(StopTexts({"two!", "on "}), pieces), text + "...") << cuts;
        EXPECT_EQ(written(StopTexts(), pieces), text + "...") << cuts;
    }
}

// Where one begins anew in another's beginning.
TEST(StopTexts, may_begin_in_themselves) {
    EXPECT_EQ(written(StopTexts({"aab"}), {"a", "a", "a", "b", "c"}), "aaab");
    EXPECT_EQ(written(StopTexts({"abac"}), {"aba", "bac", "d"}), "ababac");
    EXPECT_EQ(written(StopTexts({"b", "aab"}), {"aa", "bb"}), "aab");
}

}  // namespace
}  // namespace tandem::cli
