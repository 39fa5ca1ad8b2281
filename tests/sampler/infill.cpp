// What may fill a gap: tokens of probability, merged where they begin alike, or the end.
#include "model/sampler/infill.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>

#include "model/sampler/sampler.h"
#include "tokenizer/small_vocabulary.h"

namespace tandem::test {

using namespace model;

namespace {

constexpr int32_t end = 2;  // </s>

// <unk>, <s>, </s> and tokens of these texts from 3 on.
Tokenizer tokenizer_of(const std::vector<std::string>& texts) {
    std::vector<SmallToken> tokens{
        {"<unk>", TokenType::Unknown}, {"<s>", TokenType::Control}, {"</s>", TokenType::Control}};
    for (const std::string& text : texts) tokens.push_back({text});
    gguf::Metadata metadata = small_vocabulary("llama", tokens);
    metadata.set_u32("tokenizer.ggml.eos_token_id", end);
    return Tokenizer(metadata, "small.gguf");
}

// What is left of tokens with these probabilities, in the order of their texts.
std::string left(const std::vector<std::pair<std::string, float>>& probabilities, float of_end,
                 const SamplingOptions& options = {}) {
    std::vector<std::string> texts;
    std::vector<float> logits{-INFINITY, -INFINITY, std::log(of_end)};
    for (const auto& [text, probability] : probabilities) {
        texts.push_back(text);
        logits.push_back(std::log(probability));
    }
    const Tokenizer tokenizer = tokenizer_of(texts);
    Candidates candidates;
    candidates.assign(logits);
    Random random(1);
    infill(candidates, {options, History(0), random, nullptr, &tokenizer});
    std::vector<std::string> names;
    for (const Candidate& candidate : candidates.list)
        if (candidate.logit != -INFINITY) names.emplace_back(tokenizer.piece(candidate.id, true));
    std::ranges::sort(names);
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : " ") + name;
    return result;
}

}  // namespace

TEST(infill, keeps_what_is_likely_and_the_end) {
    EXPECT_EQ(left({{"x", .5f}, {"y", .4f}, {"z", .09f}}, .01f), "</s> x y");
    // A third of what two tokens and the end have is more than y has.
    EXPECT_EQ(left({{"x", .6f}, {"y", .25f}, {"z", .149f}}, .001f), "</s> x");
}

TEST(infill, ends_where_that_is_likely) {
    EXPECT_EQ(left({{"x", .5f}, {"y", .3f}}, .2f), "</s>");
    EXPECT_EQ(left({{"x", .55f}, {"y", .40f}}, .05f), "</s> x y");
}

TEST(infill, ends_where_nothing_is_likely) {
    const std::vector<std::pair<std::string, float>> unsure{
        {"s", .15f}, {"t", .15f}, {"u", .15f}, {"v", .17f}, {"x", .14f}, {"y", .12f}, {"z", .119f}};
    EXPECT_EQ(left(unsure, .001f), "</s>");
    EXPECT_EQ(left(unsure, 0), "</s>");
    // But not where it must not.
    SamplingOptions options;
    options.biases = {{end, -INFINITY}};
    EXPECT_EQ(left(unsure, 0, options), "v");
}

TEST(infill, merges_what_begins_alike_into_the_likelier) {
    EXPECT_EQ(left({{"a", .15f}, {"ab", .14f}, {"abc", .13f}, {"x", .5f}, {"y", .08f}}, 0), "a x");
    EXPECT_EQ(left({{"a", .1f}, {"ab", .3f}, {"ac", .12f}, {"x", .48f}}, 0), "ab x");
    // Those that share a beginning only are not merged.
    EXPECT_EQ(left({{"ab", .15f}, {"ac", .15f}, {"x", .7f}}, 0), "x");
}

TEST(infill, runs_over_large_vocabularies) {
    std::vector<std::string> texts;
    for (int i = 0; i < 100000; ++i)
        texts.push_back(std::string(size_t(i) % 7, 'a') + std::to_string(i));
    const Tokenizer tokenizer = tokenizer_of(texts);
    std::vector<std::string> warnings;
    SamplingOptions options;
    options.seed = 1;
    options.order = stages_by_names("infill", warnings);
    Sampler sampler(options, &tokenizer);
    EXPECT_EQ(sampler.describe(), "logits -> infill -> dist");
    std::vector<float> logits(size_t(tokenizer.size()), 0);
    logits[3 + 777] = 14;
    logits[end] = -30;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(sampler.sample(logits), 3 + 777);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(infill, is_no_answer_where_all_is_forbidden) {
    const Tokenizer tokenizer = tokenizer_of({"x"});
    std::vector<std::string> warnings;
    SamplingOptions options;
    options.order = stages_by_letters("i", warnings);
    for (int32_t id = 0; id < 4; ++id) options.biases.emplace_back(id, -INFINITY);
    EXPECT_TRUE(test::error_of([&] {
                    Sampler(options, &tokenizer).sample(std::vector<float>{1, 2, 3, 4});
                }).starts_with("no token is left to choose"));
}

}  // namespace tandem::test
