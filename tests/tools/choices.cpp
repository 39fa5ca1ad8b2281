// Questions: that no way of evaluating their candidates changes how likely these are.
#include "cli/perplexity/choices.h"

#include <gtest/gtest.h>

#include "cli/engine.h"
#include "cli/synth/random_rows.h"
#include "data.h"
#include "gguf/vectors.h"
#include "tools/softmax.h"

namespace tandem::cli {
namespace {

using Tokens = std::vector<int32_t>;

// Candidates with so many common tokens and lengths. Their first tokens behind these differ.
Question made_up(int64_t common, const std::vector<int64_t>& lengths, uint64_t seed) {
    Question question{.candidates = {}, .shared = common};
    for (size_t i = 0; i < lengths.size(); ++i) {
        Candidate candidate{.tokens = {}, .first = std::max<int64_t>(1, common), .end = lengths[i]};
        for (int64_t at = 0; at < lengths[i]; ++at)
            candidate.tokens.push_back(
                int32_t(mix(seed * 1000 + uint64_t(at) + (at < common ? 0 : (i + 1) * 100)) % 400));
        question.candidates.push_back(std::move(candidate));
    }
    return question;
}

// With and without something in common, and with candidates of which only the last token is not.
// Some are longer than the windows of the fixtures, which have 16 tokens.
std::vector<Question> questions() {
    std::vector<Question> all{
        made_up(9, {14, 12, 15, 10}, 1),  made_up(1, {7, 2}, 2), made_up(0, {2, 6, 3}, 3),
        made_up(20, {21, 30, 26, 24}, 4), made_up(5, {11}, 5),   made_up(6, {9, 13}, 6)};
    // Behind a beginning, without the last token.
    for (Candidate& candidate : all.back().candidates) candidate.first = 7;
    all.back().candidates[1].end = 12;
    return all;
}

// Every candidate on its own, token by token.
std::vector<std::vector<double>> plain_scores(parallel::Executor& executor,
                                              const std::vector<Question>& questions) {
    std::vector<std::vector<double>> scores;
    for (const Question& question : questions) {
        scores.emplace_back();
        for (const Candidate& candidate : question.candidates) {
            double sum = 0;
            for (int64_t i = 0; i + 1 < candidate.end; ++i) {
                graph::StepInputs inputs;
                inputs.append(0, int32_t(i), {&candidate.tokens[size_t(i)], 1});
                inputs.rows = {0};
                executor.wait(executor.submit(inputs), [&](int64_t, std::span<const float> row) {
                    if (i + 1 >= candidate.first)
                        sum +=
                            test::log_probabilities(row)[size_t(candidate.tokens[size_t(i) + 1])];
                });
            }
            scores.back().push_back(sum / double(candidate.end - candidate.first));
        }
    }
    return scores;
}

struct Way {
    int64_t slots, step, in_flight;
};

void expect_scores(const gguf::File& file, const Way& way,
                   const std::vector<std::vector<double>>& expected) {
    EngineOptions options;
    options.devices = {"reference"};
    options.model = {.context = 29,
                     .slots = way.slots,
                     .key_type = gguf::DType::F32,
                     .value_type = gguf::DType::F32};
    options.plan = {.bucket = way.step, .context = 29};
    Engine engine(file, options);
    std::vector<Question> all = questions();
    share_what_stays(*engine.blueprint().graph, all);
    size_t next = 0;
    int64_t last = 0, tokens = 0;
    for (const Question& question : all) tokens += question.evaluated();
    evaluate(engine.executor(), {.all = all, .slots = way.slots, .in_flight = way.in_flight},
             [&](size_t question, const std::vector<double>& scores, int64_t evaluated) {
                 EXPECT_EQ(question, next++);
                 ASSERT_EQ(scores.size(), expected[question].size());
                 for (size_t i = 0; i < scores.size(); ++i)
                     EXPECT_NEAR(scores[i], expected[question][i], 1e-4)
                         << file.path() << ", question " << question << ", candidate " << i << ", "
                         << way.slots << " together in steps of " << way.step;
                 EXPECT_GE(evaluated, last);
                 last = evaluated;
             });
    EXPECT_EQ(next, all.size());
    EXPECT_EQ(last, tokens);
}

// Caches of all positions, windows, latent attention, and states that cannot return.
TEST(Choices, are_as_likely_however_they_are_evaluated) {
    for (const char* name :
         {"llama-moe", "gemma3", "deepseek2-lite", "qwen35-lin128", "kimi-linear"}) {
        const auto file = gguf::File::open(test::data("fixtures/" + std::string(name) + ".gguf"));
        EngineOptions one;
        one.devices = {"reference"};
        one.model = {.context = 29, .key_type = gguf::DType::F32, .value_type = gguf::DType::F32};
        one.plan = {.bucket = 1, .context = 29};
        Engine engine(file, one);
        const auto expected = plain_scores(engine.executor(), questions());
        for (const Way& way : {Way{1, 64, 0}, Way{3, 64, 2}, Way{3, 7, 2}})
            expect_scores(file, way, expected);
    }
}

TEST(Choices, share_only_what_a_model_can_return_to) {
    auto shared = [](const char* name) {
        const auto file = gguf::File::open(test::data("fixtures/" + std::string(name) + ".gguf"));
        std::vector<Question> all = questions();
        share_what_stays(*model::build(file, {.context = 29}), all);
        std::vector<int64_t> tokens;
        for (const Question& question : all) tokens.push_back(question.shared);
        return tokens;
    };
    EXPECT_EQ(shared("llama-moe"), (std::vector<int64_t>{9, 1, 0, 20, 5, 6}));
    EXPECT_EQ(shared("gemma3"), (std::vector<int64_t>{9, 1, 0, 0, 5, 6}));
    EXPECT_EQ(shared("kimi-linear"), (std::vector<int64_t>{0, 0, 0, 0, 0, 0}));
}

TEST(Choices, evaluate_what_is_common_once) {
    EXPECT_EQ(made_up(9, {14, 12, 15, 10}, 1).evaluated(), 9 + 4 + 2 + 5 + 0);
    EXPECT_EQ(made_up(9, {14, 12, 15, 10}, 1).context(), 14);
    Question apart = made_up(9, {14, 12, 15, 10}, 1);
    apart.shared = 0;
    EXPECT_EQ(apart.evaluated(), 13 + 11 + 14 + 9);
}

TEST(Choices, of_tokens_that_do_not_exist_are_refused) {
    const auto file = gguf::File::open(test::data("fixtures/llama-moe.gguf"));
    EngineOptions options;
    options.devices = {"reference"};
    options.model.context = options.plan.context = 29;
    Engine engine(file, options);
    std::vector<Question> all = questions();
    all.back().candidates.back().tokens.back() = 512;
    EXPECT_EQ(test::error_of([&] {
                  evaluate(engine.executor(), {.all = all},
                           [](size_t, const std::vector<double>&, int64_t) { FAIL(); });
              }),
              "token 512 does not exist: the model has tokens 0 to 511");
}

}  // namespace
}  // namespace tandem::cli
