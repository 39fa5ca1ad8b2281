// How adaptive_p comes to a mean probability.
#include "model/sampler/adaptive.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/sampler/sampler.h"

namespace tandem::test {

using namespace model;

namespace {

using Numbers = std::vector<float>;

SamplingOptions aiming_at(float target, const char* names) {
    std::vector<std::string> warnings;
    SamplingOptions options;
    options.seed = 1;
    options.order = stages_by_names(names, warnings);
    options.adaptive_target = target;
    return options;
}

}  // namespace

TEST(adaptive, brings_the_mean_to_its_target) {
    const Numbers probabilities{.5f, .25f, .13f, .07f, .04f, .01f};
    Numbers logits;
    for (float p : probabilities) logits.push_back(std::log(p));
    auto mean = [&](float target) {
        Adaptive adaptive(target, 0.9f);
        Random random(7);
        double sum = 0;
        constexpr int tokens = 2000;
        for (int i = 0; i < tokens; ++i) {
            Candidates candidates;
            candidates.assign(logits);
            const int32_t token = candidates.list[adaptive.draw(candidates, random)].id;
            adaptive.accept(token);
            sum += probabilities[size_t(token)];
        }
        return sum / tokens;
    };
    for (float target : {.15f, .25f, .4f}) EXPECT_NEAR(mean(target), target, .05) << target;
}

TEST(adaptive, counts_what_it_drew_and_nothing_else) {
    const Numbers logits{1, 2, 3, 4, 2, 1};
    auto logits_behind = [&](int prompt) {
        Adaptive adaptive(.3f, .9f);
        Random random(1);
        for (int i = 0; i < prompt; ++i) adaptive.accept(i % 6);
        Candidates candidates;
        for (int i = 0; i < 3; ++i) {
            candidates.assign(logits);
            const int32_t token = candidates.list[adaptive.draw(candidates, random)].id;
            adaptive.accept(token);
            adaptive.accept(token);
        }
        return candidates.list[0].logit;
    };
    EXPECT_EQ(logits_behind(0), logits_behind(100));
}

TEST(adaptive, draws_at_the_end_wherever_it_is_named) {
    for (const char* names : {"adaptive-p;top_k;temp", "top_k;adaptive_p;temp;ADAPTIVEP"})
        EXPECT_EQ(Sampler(aiming_at(.3f, names)).describe(),
                  "logits -> top-k -> temp-ext -> adaptive-p");
    EXPECT_EQ(Sampler(aiming_at(-1, "adaptive_p;top_k")).describe(),
              "logits -> top-k -> ?adaptive-p -> dist");
    EXPECT_EQ(Sampler(aiming_at(.3f, "top_k")).describe(), "logits -> top-k -> dist");
    // A rare token is nearer to its target than a frequent one.
    Sampler sampler(aiming_at(.1f, "adaptive_p;min_p"));
    int rare = 0;
    for (int i = 0; i < 100; ++i) {
        const int32_t token = sampler.sample(Numbers{6, 4, 0, -9});
        ASSERT_LT(token, 2);  // min_p
        sampler.accept(token);
        rare += token == 1;
    }
    EXPECT_GT(rare, 60);
}

TEST(adaptive, takes_the_most_likely_token_at_temperature_0) {
    SamplingOptions options = aiming_at(.1f, "adaptive_p;temperature");
    options.temperature = 0;
    Sampler sampler(options);
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(sampler.sample(Numbers{1, 2, 5, 5, 3}), 2);
        sampler.accept(2);
    }
}

}  // namespace tandem::test
