// What is not to be repeated, and how far back that looks.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "model/sampler/dry.h"
#include "model/sampler/sampler.h"
#include "sampler/applied.h"
#include "tokenizer/small_vocabulary.h"

namespace tandem::test {

TEST(dry, penalizes_what_repeats) {
    auto with = [](float multiplier, int64_t allowed, int64_t window) {
        return [=](auto& o) {
            o.dry_multiplier = multiplier;
            o.dry_base = 1.1f;
            o.dry_allowed_length = allowed;
            o.dry_last_n = window;
        };
    };
    const Numbers four{.25f, .25f, .25f, .25f};
    expect(apply("dry", four, with(1, 2, 5), {0, 1, 2, 0, 1}),
           {.296923f, .296923f, .109232f, .296923f});
    expect(apply("dry", even, with(2, 2, 5), {0, 1, 2, 0, 1}),
           {.241818f, .241818f, .032727f, .241818f, .241818f});
    expect(apply("dry", even, with(1, 4, 7), {0, 1, 2, 3, 4, 0, 1}), even);
    for (float multiplier : {0.f, 1.f})
        expect(apply("dry", four, with(multiplier, 2, multiplier > 0 ? 0 : 5), {0, 1, 2, 0, 1}),
               four);
    // Nothing is repeated across a breaker, and a breaker may always be.
    Breakers breakers;
    breakers.add(3, {});
    expect(apply("dry", even, with(1, 2, 6), {0, 1, 3, 4, 0, 1}, breakers), even);
    breakers = {};
    breakers.add(1, {0});
    const std::vector<int32_t> twice{1, 0, 2, 3, 4, 1, 0, 2, 3};
    expect(apply("dry", even, with(100, 2, 9), twice, breakers), {.25f, .25f, .25f, .25f, 0});
    expect(apply("dry", even, with(100, 3, 9), twice, breakers), even);
    breakers = {};
    breakers.add(4, {});
    expect(apply("dry", even, with(100, 2, 9), twice, breakers), even);
}

namespace {

// How much of a text's end each token would go on to repeat, by its definition.
std::map<int32_t, int> repeated(const Ids& text, const std::vector<Ids>& breakers) {
    const int size = int(text.size());
    int limit = size;
    for (int head = size - 1; head >= 0 && limit == size; --head)
        for (const Ids& breaker : breakers) {  // the longest one last
            const int end = head + int(breaker.size());
            if (end <= size && std::equal(breaker.begin(), breaker.end(), text.begin() + head))
                limit = size - end;
        }
    std::map<int32_t, int> lengths;
    for (int last = 0; last + 1 < size; ++last) {
        int length = 0;
        while (length <= last && length < limit &&
               text[size_t(last - length)] == text[size_t(size - 1 - length)])
            ++length;
        int& most = lengths[text[size_t(last) + 1]];
        most = std::max(most, length);
    }
    return lengths;
}

}  // namespace

TEST(dry, penalizes_as_its_definition_says) {
    SamplingOptions options;
    options.dry_multiplier = 1;
    options.dry_base = 1.25f;
    const std::vector<Ids> breakers{{4}, {3, 0}, {3, 0, 1}};
    Breakers added;
    for (const Ids& breaker : breakers) added.add(breaker[0], {breaker.begin() + 1, breaker.end()});
    Random random(5);
    auto below = [&](int end) { return int(random.uniform() * end); };
    int penalties = 0;
    for (int round = 0; round < 2000; ++round) {
        options.dry_allowed_length = below(4);
        options.dry_last_n = 1 + below(40);
        History history(0);
        const int common = 2 + below(2);  // rarer ones are breakers
        for (int i = below(40); i >= 0; --i)
            history.accept(below(20) > 0 ? below(common) : below(5));
        const auto text = history.last(options.dry_last_n);
        const auto lengths = repeated({text.begin(), text.end()}, breakers);
        Candidates candidates;
        candidates.assign(Numbers{5, 4, 3, 2, 1, 0});
        if (round % 2 == 1) std::ranges::reverse(candidates.list);
        dry(candidates, {options, history, random, &added});
        for (const Candidate& candidate : candidates.list) {
            float expected = 5.f - float(candidate.id);
            const auto found = lengths.find(candidate.id);
            const int more =
                found == lengths.end() ? -1 : found->second - int(options.dry_allowed_length);
            if (more >= 0 && candidate.id != 4 &&
                text.size() > size_t(options.dry_allowed_length)) {
                expected -= std::pow(1.25f, float(more));
                ++penalties;
            }
            ASSERT_NEAR(candidate.logit, expected, 1e-4) << round << " " << candidate.id;
        }
    }
    EXPECT_GT(penalties, 500);
}

TEST(dry, looks_at_long_repetitions_only_once) {
    // All of these go on with 0, by a penalty that is as large as numbers come.
    std::vector<int32_t> history(200000, 0);
    auto all = [](auto& o) {
        o.dry_multiplier = 1;
        o.dry_last_n = 200000;
    };
    const auto begin = std::chrono::steady_clock::now();
    expect(apply("dry", even, all, history), {0, .25f, .25f, .25f, .25f});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(dry, breakers_are_found_in_all_tokens) {
    const Tokenizer tokenizer(
        small_vocabulary("llama", spm_tokens({{"ab", TokenType::Normal, -1},
                                              {"xa", TokenType::Normal, -2},
                                              {"xabcx", TokenType::Normal, -3},
                                              {"c", TokenType::Normal, -4},
                                              {"bc", TokenType::Normal, -5}})),
        "small.gguf");
    const int32_t ab = 259, xa = 260, whole = 261, c = 262, bc = 263;
    const std::vector<std::string> texts{"abc"};
    const Breakers breakers(texts, tokenizer);
    EXPECT_TRUE(breakers.has(whole));
    for (int32_t token : {ab, xa, c, bc}) EXPECT_FALSE(breakers.has(token));
    auto behind = [&](const std::vector<int32_t>& text) { return breakers.behind(text, 9); };
    EXPECT_EQ(behind({ab, xa, whole, c, bc}), 2);
    const std::vector<int32_t> rest = tokenizer.encode("c", plain),
                               longer = tokenizer.encode("bc", plain);
    auto joined = [](std::vector<int32_t> tokens, const std::vector<int32_t>& more) {
        tokens.insert(tokens.end(), more.begin(), more.end());
        tokens.push_back(7);
        return tokens;
    };
    EXPECT_EQ(behind(joined({ab}, rest)), 1);
    EXPECT_EQ(behind(joined({xa}, longer)), 1);
    EXPECT_EQ(behind(joined({xa}, rest)), 9);
    EXPECT_EQ(behind({ab}), 9);
    EXPECT_EQ(breakers.behind(std::vector<int32_t>{whole, c, bc, c}, 2), 2);
}

TEST(dry, finds_its_breakers_in_the_vocabulary) {
    const Tokenizer tokenizer(small_vocabulary("llama", spm_tokens({})), "small.gguf");
    auto choice = [&](std::vector<std::string> texts, const Ids& history) {
        SamplingOptions options;
        options.temperature = 0;
        options.order = default_order();
        options.dry_multiplier = 100;
        options.dry_breakers = std::move(texts);
        Sampler sampler(options, &tokenizer);
        for (int32_t token : history) sampler.accept(token);
        Numbers logits(size_t(tokenizer.size()), 0);
        logits[3 + 'c'] = 2;
        logits[3 + 'd'] = 1;
        return char(sampler.sample(logits) - 3);
    };
    Ids history;
    for (char c : std::string("ab:ca b:")) history.push_back(3 + c);
    EXPECT_EQ(choice({}, history), 'd');
    EXPECT_EQ(choice({":"}, history), 'c');
    EXPECT_EQ(choice({"b", "x"}, history), 'c');
    EXPECT_EQ(choice({"x"}, history), 'd');
    // Nothing of a text counts behind its first 40 bytes, and they may end within a character.
    EXPECT_EQ(choice({std::string(39, 'x') + "\xc3\xa4"}, history), 'd');
}

}  // namespace tandem::test
