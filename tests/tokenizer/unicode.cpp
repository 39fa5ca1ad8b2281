// Categories, UTF-8 and the classes that the splitting expressions ask for.
#include "model/tokenizer/unicode.h"

#include <gtest/gtest.h>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/characters.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

TEST(Unicode, categories_of_15_1) {
    EXPECT_EQ(general_category(0), Category::Cc);
    EXPECT_EQ(general_category('A'), Category::Lu);
    EXPECT_EQ(general_category(0x1C5), Category::Lt);
    EXPECT_EQ(general_category(0x301), Category::Mn);
    EXPECT_EQ(general_category(0x664), Category::Nd);
    EXPECT_EQ(general_category(0x2167), Category::Nl);
    EXPECT_EQ(general_category(0x4E2D), Category::Lo);
    EXPECT_EQ(general_category(0x378), Category::Cn);
    EXPECT_EQ(general_category(0xD800), Category::Cs);
    EXPECT_EQ(general_category(0x2EBF0), Category::Lo);  // new in 15.1
    EXPECT_EQ(general_category(0x10FFFF), Category::Cn);
}

TEST(Unicode, ranges_are_in_order_and_differ_from_their_neighbours) {
    EXPECT_EQ(category_ranges.front().first, 0U);
    for (size_t i = 1; i < category_ranges.size(); ++i) {
        EXPECT_LT(category_ranges[i - 1].first, category_ranges[i].first);
        EXPECT_NE(category_ranges[i - 1].category, category_ranges[i].category);
    }
}

TEST(Unicode, numbers_of_code_points_are_those_of_the_standard) {
    const auto count = [](Category wanted) {
        size_t total = 0;
        for (size_t i = 0; i + 1 < category_ranges.size(); ++i) {
            if (category_ranges[i].category == wanted) {
                total += category_ranges[i + 1].first - category_ranges[i].first;
            }
        }
        return total;
    };
    EXPECT_EQ(count(Category::Lu), 1831U);
    EXPECT_EQ(count(Category::Ll), 2233U);
    EXPECT_EQ(count(Category::Lo), 132234U);
    EXPECT_EQ(count(Category::Mn), 1985U);
    EXPECT_EQ(count(Category::Nd), 680U);
    EXPECT_EQ(count(Category::So), 6639U);
}

TEST(Utf8, well_formed_sequences_only) {
    const auto length = [](std::string_view bytes) {
        const Utf8Front front = utf8_front(bytes);
        return front.whole ? static_cast<int>(front.length) : -static_cast<int>(front.length);
    };
    EXPECT_EQ(length("a"), 1);
    EXPECT_EQ(length("\u00E9x"), 2);
    EXPECT_EQ(length("\u20AC"), 3);
    EXPECT_EQ(length("\U0001F642"), 4);
    EXPECT_EQ(length(""), 0);
    EXPECT_EQ(length("\x80"), 0);
    EXPECT_EQ(length("\xC0\xAF"), 0) << "overlong";
    EXPECT_EQ(length("\xE0\x9F\xBF"), 0) << "overlong";
    EXPECT_EQ(length("\xED\xA0\x80"), 0) << "a surrogate";
    EXPECT_EQ(length("\xF4\x90\x80\x80"), 0) << "past 10FFFF";
    EXPECT_EQ(length("\xE2\x82"), -2) << "unfinished";
    EXPECT_EQ(length("\xE2\x82x"), 0);
}

TEST(Utf8, encoding_and_decoding_agree) {
    for (const char32_t code : {0x0U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
        std::string bytes;
        append_utf8(bytes, code);
        EXPECT_EQ(utf8_front(bytes).length, bytes.size());
        EXPECT_EQ(code_point(bytes), code);
    }
}

TEST(Characters, a_byte_that_is_not_utf8_is_a_character) {
    const auto all = characters("a\xFF\xE2\x82\u4E2D");
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[1].code, 0xFFFDU);
    EXPECT_EQ(all[1].classes, 0);
    EXPECT_EQ(all[2].bytes, 1);
    EXPECT_EQ(all[3].bytes, 1);
    EXPECT_EQ(all[4].code, 0x4E2DU);
    EXPECT_EQ(all[4].classes, classes::han);
}

TEST(Characters, white_space_is_that_of_the_standard) {
    const auto is_space = [](std::string_view text) {
        return (characters(text).at(0).classes & classes::space) != 0;
    };
    for (const char* text : {"\t", "\v", "\r", " ", "\u0085", "\u00A0", "\u1680", "\u200A",
                             "\u2028", "\u202F", "\u205F", "\u3000"}) {
        EXPECT_TRUE(is_space(text));
    }
    EXPECT_FALSE(is_space("\u200B"));
    EXPECT_FALSE(is_space("\uFEFF"));
}

TEST(ByteAlphabet, maps_every_byte_there_and_back) {
    EXPECT_EQ(to_images(" \n\t\x7F\xAD"), "\u0120\u010A\u0109\u0121\u0143");
    EXPECT_EQ(to_images("A~\xA1\xFF"), "A~\u00A1\u00FF");
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
    EXPECT_EQ(from_images(to_images(bytes)), bytes);
    EXPECT_EQ(from_images("\u4E2D\xFF"), "\u4E2D\xFF") << "what is no image stays";
}

}  // namespace
}  // namespace tandem::model
