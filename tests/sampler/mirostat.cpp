// How mirostat keeps the surprise of a text at its target.
#include "model/sampler/mirostat.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gguf/error.h"
#include "gguf/vectors.h"
#include "model/sampler/sampler.h"

namespace tandem::test {

using namespace model;

namespace {

using Numbers = std::vector<float>;

// Probabilities that fall off by Zipf's law.
Numbers falling(size_t tokens, float exponent) {
    Numbers logits(tokens);
    for (size_t i = 0; i < tokens; ++i) logits[i] = -exponent * std::log(float(i + 1));
    return logits;
}

SamplingOptions with(int64_t version, float temperature = 1) {
    SamplingOptions options;
    options.seed = 1;
    options.mirostat = version;
    options.temperature = temperature;
    return options;
}

}  // namespace

TEST(mirostat, meets_its_target) {
    const Numbers logits = falling(5000, 1.1f);
    for (int64_t version : {1, 2})
        for (float target : {2.f, 4.f}) {
            Mirostat mirostat(version, target, 0.1f);
            Random random(7);
            double sum = 0;
            constexpr int tokens = 1000;
            for (int i = 0; i < tokens; ++i) {
                Candidates candidates;
                candidates.assign(logits);
                const size_t chosen = mirostat.draw(candidates, random);
                sum -= std::log2(candidates.list[chosen].probability);
            }
            EXPECT_NEAR(sum / tokens, target, 0.25) << version;
        }
}

TEST(mirostat, keeps_what_sorting_all_would) {
    const Numbers logits = falling(30000, 1.2f);
    for (int64_t version : {1, 2}) {
        Candidates forwards, backwards;
        forwards.assign(logits);
        backwards = forwards;
        std::ranges::reverse(backwards.list);
        Random random(3), same(3);
        const size_t chosen = Mirostat(version, 5, 0.1f).draw(forwards, random);
        EXPECT_EQ(Mirostat(version, 5, 0.1f).draw(backwards, same), chosen);
        ASSERT_EQ(forwards.list.size(), backwards.list.size());
        EXPECT_GT(forwards.list.size(), 10u);
        EXPECT_LT(forwards.list.size(), 3000u);
        for (size_t i = 0; i < forwards.list.size(); ++i)
            ASSERT_EQ(forwards.list[i].id, backwards.list[i].id);
    }
}

TEST(mirostat, takes_the_most_likely_token_at_temperature_0) {
    for (int64_t version : {1, 2}) {
        for (float temperature : {0.f, 1e-40f}) {
            Sampler sampler(with(version, temperature));
            for (int i = 0; i < 20; ++i) EXPECT_EQ(sampler.sample(Numbers{1, 2, 5, 4, 3}), 2);
        }
        SamplingOptions certain = with(version);
        certain.mirostat_target = 0;
        Sampler sampler(certain);
        for (int i = 0; i < 20; ++i) EXPECT_EQ(sampler.sample(Numbers{1, 2, 5, 4, 3}), 2);
    }
}

TEST(mirostat, looks_at_no_token_that_is_forbidden) {
    for (int64_t version : {1, 2}) {
        SamplingOptions options = with(version);
        options.biases = {{0, -INFINITY}, {2, -INFINITY}};
        Sampler sampler(options);
        for (int i = 0; i < 50; ++i) EXPECT_EQ(sampler.sample(Numbers{9, 1, 9, -INFINITY}), 1);
        options.biases.emplace_back(1, -INFINITY);
        EXPECT_TRUE(test::error_of([&] {
                        Sampler(options).sample(Numbers{9, 1, 9, -INFINITY});
                    }).starts_with("no token is left to choose"));
    }
}

TEST(mirostat, chooses_from_any_logits) {
    for (int64_t version : {1, 2}) {
        Sampler sampler(with(version));
        for (int i = 0; i < 600; ++i) {  // without surprise, ever more is allowed
            const int32_t token = sampler.sample(Numbers{0, 900, 0, 0, 0});
            ASSERT_EQ(token, 1);
        }
        Sampler equal(with(version));
        for (int i = 0; i < 100; ++i) {
            const int32_t token = equal.sample(Numbers{1, 1, 1, 1, 1});
            ASSERT_TRUE(token >= 0 && token < 5);
        }
        EXPECT_EQ(Sampler(with(version)).sample(Numbers{-3}), 0);
    }
}

TEST(mirostat, takes_the_place_of_the_other_samplers) {
    SamplingOptions options = with(1);
    options.order = default_order();
    options.top_k = 1;
    options.temperature_range = 5;
    EXPECT_EQ(Sampler(options).describe(), "logits -> temp -> mirostat");
    options.biases = {{1, 1.f}};
    options.mirostat = 2;
    Sampler sampler(options);
    EXPECT_EQ(sampler.describe(), "logits -> logit-bias -> temp -> mirostat-v2");
    bool others = false;
    for (int i = 0; i < 50; ++i) others = others || sampler.sample(Numbers{1, 1, 1}) != 1;
    EXPECT_TRUE(others);
}

}  // namespace tandem::test
