// Which tokens a text may go on with: all of them at once, against one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <random>

#include "data.h"
#include "gguf/file.h"
#include "grammar/matching.h"
#include "model/grammar/guide.h"
#include "model/grammar/json_schema.h"

namespace tandem::test {

namespace {

using model::Tokenizer;
using model::grammar::Guide;

constexpr const char* grammars[] = {
    "root ::= [a-z]+ (\" \" [a-z]+)* \".\"",
    "root ::= [^\\n]* \"\\n\"",
    "root ::= [\\u0400-\\u04ff\\u4e00-\\u9fff]* \"!\"",
    "root ::= \"\\U0001F600\"+ | \"yes\" | \" no\"",
    "root ::= (\"a\" root \"b\")? | [0-9]{3,40}",
};

std::vector<bool> mask(Guide& guide, size_t tokens) {
    std::vector<float> logits(tokens);
    guide.forbid(logits);
    std::vector<bool> allowed;
    for (const float logit : logits) allowed.push_back(logit == 0);
    return allowed;
}

// Texts of random tokens, with the mask compared at each of them.
void compare(const Tokenizer& tokenizer, const std::string& text, int steps, uint32_t seed) {
    Guide guide(Grammar(text), tokenizer);
    std::mt19937 random(seed);
    const auto tokens = size_t(tokenizer.size()) + 3;  // a model may have more
    for (int step = 0; step < steps; ++step) {
        const std::vector<bool> allowed = mask(guide, tokens);
        std::vector<int32_t> some;
        for (size_t id = 0; id < tokens; ++id) {
            ASSERT_EQ(allowed[id], guide.allows(int32_t(id)))
                << text << " step " << step << " token " << id << " '"
                << tokenizer.piece(int32_t(id), true) << "'";
            if (allowed[id]) some.push_back(int32_t(id));
        }
        ASSERT_FALSE(some.empty()) << text << " step " << step;
        const int32_t token = some[random() % some.size()];
        if (tokenizer.ends_generation(token)) {
            EXPECT_TRUE(guide.can_end());
            return;
        }
        guide.accept(token);
        if (guide.must_end()) guide.begin();
    }
}

void compare_all(const std::filesystem::path& path, int steps) {
    const gguf::File file = gguf::File::open(path);
    const Tokenizer tokenizer(file.metadata(), file.path());
    uint32_t seed = 1;
    for (const char* text : grammars) compare(tokenizer, text, steps, seed++);
    compare(tokenizer, model::grammar::grammar_of_schema("{}"), steps, seed);
}

}  // namespace

TEST(GrammarGuide, masks_are_what_tokens_are_one_by_one) {
    compare_all(data("stories/stories.gguf"), 40);
}

TEST(GrammarGuide, masks_of_large_vocabularies_are_what_tokens_are_one_by_one) {
    for (const char* name : {"llama-spm", "qwen2", "llama4", "falcon"}) {
        const auto path = shared("vocab/ggml-vocab-" + std::string(name) + ".gguf");
        if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs vocab/ of the full data set";
        compare_all(path, 4);
    }
}

TEST(GrammarGuide, masks_of_large_vocabularies_take_milliseconds) {
    const auto path = shared("vocab/ggml-vocab-llama4.gguf");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs vocab/ of the full data set";
    const gguf::File file = gguf::File::open(path);
    const Tokenizer tokenizer(file.metadata(), file.path());
    Guide guide(Grammar(model::grammar::grammar_of_schema("{}")), tokenizer);
    std::vector<float> logits(size_t(tokenizer.size()));
    const auto milliseconds = [&] {  // of the processor, whatever else it does
        double least = 1e9;
        for (int i = 0; i < 5; ++i) {
            const std::clock_t start = std::clock();
            guide.forbid(logits);
            least = std::min(least, double(std::clock() - start) / CLOCKS_PER_SEC * 1e3);
        }
        return least;
    };
    const double at_begin = milliseconds();
    for (const int32_t token : tokenizer.encode("{\"na", {.add_special = false}))
        guide.accept(token);
    const double in_string = milliseconds();
    RecordProperty("milliseconds_at_begin", std::to_string(at_begin));
    RecordProperty("milliseconds_in_string", std::to_string(in_string));
    EXPECT_LT(at_begin, 50);
    EXPECT_LT(in_string, 100);
}

TEST(GrammarGuide, ends_where_the_grammar_does) {
    const gguf::File file = gguf::File::open(data("stories/stories.gguf"));
    const Tokenizer tokenizer(file.metadata(), file.path());
    const int32_t end = *tokenizer.special_ids().generation_ends.begin();
    Guide guide(Grammar("root ::= \"a\"{1,2}"), tokenizer);
    EXPECT_FALSE(guide.allows(end));
    EXPECT_FALSE(mask(guide, size_t(tokenizer.size()))[size_t(end)]);
    int32_t letter = -1;
    for (int32_t id = 0; id < tokenizer.size(); ++id)
        if (tokenizer.piece(id) == "a") letter = id;
    ASSERT_GE(letter, 0);
    guide.accept(letter);
    EXPECT_TRUE(guide.allows(end));
    EXPECT_TRUE(mask(guide, size_t(tokenizer.size()))[size_t(end)]);
    EXPECT_FALSE(guide.must_end());
    guide.accept(letter);
    EXPECT_TRUE(guide.must_end());
    EXPECT_FALSE(guide.allows(letter));
    guide.begin();
    EXPECT_TRUE(guide.allows(letter));
}

}  // namespace tandem::test
