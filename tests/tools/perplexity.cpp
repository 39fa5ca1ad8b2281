// Perplexity: the sums, and that no way of evaluating the windows changes them.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "cli/engine.h"
#include "cli/perplexity/score.h"
#include "cli/perplexity/windows.h"
#include "cli/synth/random_rows.h"
#include "tools/softmax.h"
#include "tools/tiny.h"

namespace tandem::cli {
namespace {

double plain_likelihood(std::span<const float> logits, int32_t target) {
    return -test::log_probabilities(logits)[size_t(target)];
}

TEST(Score, is_the_softmax_of_the_logits) {
    for (size_t count : {1, 2, 7, 8, 9, 64, 1001, 151936}) {
        std::vector<float> logits = normals(count, count);
        for (float& logit : logits) logit *= 5;
        for (size_t target : {size_t(0), count / 2, count - 1})
            EXPECT_NEAR(negative_log_likelihood(logits, int32_t(target)),
                        plain_likelihood(logits, int32_t(target)), 1e-6)
                << count;
    }
}

TEST(Score, holds_for_extreme_logits) {
    EXPECT_NEAR(negative_log_likelihood(std::vector<float>(1000, 7.0f), 3), std::log(1000), 1e-12);
    const std::vector<float> sure{-1000, 1000, -90, 3};
    EXPECT_EQ(negative_log_likelihood(sure, 1), 0);
    EXPECT_EQ(negative_log_likelihood(sure, 0), 2000);
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_NEAR(negative_log_likelihood(std::vector<float>{-infinity, 0, 0}, 1), std::log(2),
                1e-12);
    for (size_t place : {0, 1, 20, 39}) {
        std::vector<float> broken(40, 1.0f);
        broken[place] = NAN;
        EXPECT_TRUE(std::isnan(negative_log_likelihood(broken, 5))) << place;
    }
}

TEST(Score, perplexity_and_its_error) {
    Likelihoods two;
    two.add(1);
    EXPECT_TRUE(std::isnan(two.error()));
    two.add(3);
    EXPECT_DOUBLE_EQ(two.perplexity(), std::exp(2));
    EXPECT_DOUBLE_EQ(two.error(), 1);
}

// Every window on its own, token by token.
std::vector<Likelihoods> plain_windows(parallel::Executor& executor, const Windows& windows) {
    std::vector<Likelihoods> all;
    for (int64_t window = 0; window < windows.count; ++window) {
        Likelihoods& own = all.emplace_back();
        const int64_t distance = windows.stride > 0 ? windows.stride : windows.length;
        const int64_t predicted =
            windows.stride > 0 ? windows.stride : windows.length - 1 - windows.length / 2;
        const auto tokens = windows.tokens.subspan(size_t(window * distance));
        for (int64_t i = 0; i + 1 < windows.length; ++i) {
            const bool first = i == 0 && windows.first_token >= 0;
            const int32_t token = first ? windows.first_token : tokens[size_t(i)];
            graph::StepInputs inputs;
            inputs.append(0, int32_t(i), {&token, 1});
            inputs.rows = {0};
            executor.wait(executor.submit(inputs), [&](int64_t, std::span<const float> logits) {
                if (i + 1 >= windows.length - predicted)
                    own.add(plain_likelihood(logits, tokens[size_t(i) + 1]));
            });
        }
    }
    return all;
}

TEST(Windows, give_the_same_however_they_are_evaluated) {
    const test::Folder folder;
    const gguf::File file = test::make_tiny(folder);
    std::vector<int32_t> tokens;
    for (uint64_t i = 0; i < 64; ++i) tokens.push_back(int32_t(mix(i) % 400));
    struct Form {
        int64_t length, stride, predicted;
    };
    for (const Form& form : {Form{11, 0, 5}, {12, 0, 5}, {12, 4, 4}, {12, 11, 11}}) {
        const int64_t length = form.length;
        std::vector<Likelihoods> expected;
        for (int64_t step : {1, 5, 12, 24, 60}) {
            EngineOptions options;
            options.devices = {"reference", "reference"};
            options.model.key_type = options.model.value_type = gguf::DType::F32;
            options.model.context = options.plan.context = length;
            options.model.slots = 3;
            options.plan.bucket = step;
            Engine engine(file, options);
            const Windows windows{.tokens = tokens,
                                  .length = length,
                                  .stride = form.stride,
                                  .count = 5,
                                  .first_token = 1,
                                  .slots = 3,
                                  .in_flight = step % 4};
            if (expected.empty()) expected = plain_windows(engine.executor(), windows);
            int64_t next = 0;
            evaluate(engine.executor(), windows, [&](int64_t window, const Likelihoods& own) {
                EXPECT_EQ(window, next++);
                EXPECT_EQ(own.count, form.predicted);
                EXPECT_NEAR(own.sum, expected[size_t(window)].sum, 1e-4);
                EXPECT_NEAR(own.squares, expected[size_t(window)].squares, 1e-3);
            });
            EXPECT_EQ(next, 5);
        }
    }
}

}  // namespace
}  // namespace tandem::cli
