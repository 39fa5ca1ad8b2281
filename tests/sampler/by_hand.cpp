// Small cases that can be checked by eye: probabilities in, probabilities out.
#include <gtest/gtest.h>

#include <cmath>

#include "gguf/error.h"
#include "gguf/vectors.h"
#include "model/sampler/sampler.h"
#include "sampler/applied.h"

namespace tandem::test {

using namespace model;

namespace {

// What is said where a token is chosen behind that history.
std::string fault(const SamplingOptions& options, const Numbers& logits,
                  const std::vector<int32_t>& history) {
    return test::error_of([&] {
        Sampler sampler(options);
        for (int32_t token : history) sampler.accept(token);
        EXPECT_NE(logits[size_t(sampler.sample(logits))], -INFINITY);
    });
}

}  // namespace

TEST(samplers, temperature) {
    auto at = [](float t) {
        return apply("temperature", rising, [t](auto& o) { o.temperature = t; });
    };
    expect(at(1), rising);
    expect(at(0), {0, 0, 0, 1});
    expect(at(-3), {0, 0, 0, 1});
}

TEST(samplers, temperature_zero_takes_the_first_of_equals) {
    expect(apply("temperature", even, [](auto& o) { o.temperature = 0; }), {1, 0, 0, 0, 0});
}

TEST(samplers, extreme_temperatures_stay_between_the_best_and_all) {
    auto at = [](float t, const Numbers& probabilities) {
        return apply("temperature", probabilities, [t](auto& o) { o.temperature = t; });
    };
    // Logits below and above 0.
    expect(at(1e-40f, rising), {0, 0, 0, 1});
    expect(at(1e-40f, {10, 20, 30, 40}), {0, 0, 0, 1});
    expect(at(INFINITY, {0, .2f, .8f}), {0, .5f, .5f});
}

TEST(samplers, top_k) {
    auto at = [](int64_t k) { return apply("top_k", rising, [k](auto& o) { o.top_k = k; }); };
    expect(at(1), {1});
    expect(at(3), {.44444f, .33333f, .22222f});
    expect(at(4), {.4f, .3f, .2f, .1f});
    expect(at(9), {.4f, .3f, .2f, .1f});
    expect(at(0), rising);
    expect(at(-1), rising);
}

TEST(samplers, top_p) {
    auto at = [](float p) { return apply("top_p", rising, [p](auto& o) { o.top_p = p; }); };
    expect(at(0), {1});
    expect(at(.7f), {.5714f, .4286f});
    expect(at(.8f), {.44444f, .33333f, .22222f});
    expect(at(1), rising);
}

TEST(samplers, min_p) {
    auto at = [](float p) { return apply("min_p", rising, [p](auto& o) { o.min_p = p; }); };
    for (float p : {0.f, .24f}) expect(at(p), rising);
    for (float p : {.26f, .49f}) expect(at(p), {.2222f, .3333f, .4444f});
    for (float p : {.51f, .74f}) expect(at(p), {.4286f, .5714f});
    for (float p : {.76f, 1.f, 1.05f}) expect(at(p), {1});
}

TEST(samplers, xtc) {
    auto at = [](float t) {
        return apply("xtc", {.4f, .3f, .2f, .1f}, [t](auto& o) {
            o.xtc_probability = .99f;
            o.xtc_threshold = t;
        });
    };
    expect(at(.09f), {1});
    expect(at(.19f), {.6667f, .3333f});
    expect(at(.29f), {.5f, .3333f, .1667f});
    expect(at(.39f), {.4f, .3f, .2f, .1f});
}

TEST(samplers, typical) {
    auto half = [](auto& o) { o.typical_p = .5f; };
    expect(apply("typ_p", {.97f, .01f, .01f, .01f}, half), {1});
    expect(apply("typ_p", {.4f, .2f, .2f, .2f}, half), {.3333f, .3333f, .3333f});
}

TEST(samplers, penalties) {
    auto repeat = [](auto& o) { o.repeat_penalty = 50; };
    expect(apply("penalties", even, repeat, {0}), {0, .25f, .25f, .25f, .25f});
    auto both = [](auto& o) { o.frequency_penalty = o.presence_penalty = 5; };
    expect(apply("penalties", even, both, {0}), {.000011f, .249997f, .249997f, .249997f, .249997f});
    expect(apply("penalties", even, both, {0, 1, 2, 0, 0}),
           {0, .000023f, .000023f, .499977f, .499977f});
    // What has left the window counts no more.
    auto narrow = [&](auto& o) {
        both(o);
        o.penalty_last_n = 1;
    };
    expect(apply("penalties", even, narrow, {1, 0}),
           {.000011f, .249997f, .249997f, .249997f, .249997f});
}

TEST(samplers, top_n_sigma) {
    auto at = [](float n) {
        return apply("top_n_sigma", rising, [n](auto& o) { o.top_n_sigma = n; });
    };
    expect(at(1), {0, 0, .428571f, .571429f});
    expect(at(0), rising);
    expect(at(3), rising);
}

TEST(samplers, large_vocabularies_are_cut_where_sorting_would) {
    Random random(3);
    Candidates all;
    Numbers logits(50000);
    for (float& logit : logits)
        logit = std::floor(8000 * random.uniform_float()) / 400;  // some equal
    all.assign(logits);
    softmax(all);
    Candidates sorted = all;
    sort(sorted);
    for (const char* name : {"top_k", "top_p"})
        for (float amount : {0.001f, 0.01f, 0.3f, 0.8f, 0.999f}) {
            SamplingOptions options;
            options.top_k = int64_t(amount * 50000);
            options.top_p = amount;
            std::vector<std::string> warnings;
            const Stage* stage = stages_by_names(name, warnings).at(0);
            Candidates cut = all;
            stage->apply(cut, {options, History(0), random});
            float sum = 0;
            size_t count = 0;
            if (name[4] == 'k') count = size_t(options.top_k);
            while (name[4] == 'p' && sum < amount) sum += sorted.list[count++].probability;
            ASSERT_EQ(cut.list.size(), count) << name << amount;
            ASSERT_TRUE(cut.sorted);
            for (size_t i = 0; i < count; ++i) ASSERT_EQ(cut.list[i].id, sorted.list[i].id);
            if (!stage->begin) continue;
            Candidates begun;
            stage->begin(begun, logits, options);
            ASSERT_EQ(begun.list.size(), count);
            ASSERT_TRUE(begun.sorted);
            for (size_t i = 0; i < count; ++i) ASSERT_EQ(begun.list[i].id, sorted.list[i].id);
        }
}

TEST(samplers, orders_are_said_by_letters_or_names) {
    std::vector<std::string> warnings;
    auto shown = [](const std::vector<const Stage*>& order) {
        std::string text;
        for (const Stage* stage : order) text += std::string(stage->name) + " ";
        return text;
    };
    EXPECT_EQ(shown(default_order()),
              "penalties dry top_n_sigma top_k typ_p top_p min_p xtc temperature ");
    EXPECT_EQ(stages_by_letters("edskypmxt", warnings), default_order());
    EXPECT_EQ(shown(stages_by_names("Temp;top-k;TOPK;nucleus;min_p;dry", warnings)),
              "temperature top_k top_k top_p min_p dry ");
    EXPECT_TRUE(warnings.empty());
    EXPECT_TRUE(stages_by_names("", warnings).empty());
    EXPECT_EQ(shown(stages_by_names("top_k;mirostat;temp", warnings)), "top_k temperature ");
    EXPECT_EQ(shown(stages_by_letters("kqz\x1bqz", warnings)), "top_k ");
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_EQ(warnings[0],
              "there is no sampler \"mirostat\", it is left out; there are penalties (e), "
              "dry (d), top_n_sigma (s), top_k (k), typ_p (y), top_p (p), min_p (m), xtc (x), "
              "temperature (t), infill (i), adaptive_p (a)");
    EXPECT_TRUE(warnings[1].starts_with(
        "there are no samplers \"q\", \"z\", \"\\x1b\", they are left out; there are penalties"))
        << warnings[1];
}

TEST(samplers, a_chain_describes_itself) {
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling({}, warnings);
    EXPECT_EQ(Sampler(options).describe(),
              "logits -> ?penalties -> ?dry -> ?top-n-sigma -> top-k -> ?typical -> top-p -> min-p "
              "-> ?xtc -> temp-ext -> dist");
    options.order = stages_by_letters("k", warnings);
    options.biases = {{3, 1.0f}};
    EXPECT_EQ(Sampler(options).describe(), "logits -> logit-bias -> top-k -> dist");
}

TEST(samplers, the_file_may_recommend) {
    gguf::Metadata metadata;
    metadata.set_u32("general.sampling.top_k", 7);
    metadata.set_f32("general.sampling.temp", 0.5f);
    metadata.set_string("general.sampling.sequence", "kt");
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling(metadata, warnings);
    EXPECT_EQ(options.top_k, 7);
    EXPECT_EQ(options.temperature, 0.5f);
    EXPECT_EQ(options.top_p, 0.95f);
    EXPECT_EQ(options.order.size(), 2u);
    EXPECT_TRUE(warnings.empty());
    metadata.set_u32("general.sampling.mirostat", 2);
    metadata.set_f32("general.sampling.mirostat_tau", 3);
    metadata.set_f32("general.sampling.mirostat_eta", 0.25f);
    options = recommended_sampling(metadata, warnings);
    EXPECT_EQ(options.mirostat, 2);
    EXPECT_EQ(options.mirostat_target, 3);
    EXPECT_EQ(options.mirostat_rate, 0.25f);
    EXPECT_EQ(Sampler(options).describe(), "logits -> temp -> mirostat-v2");
    metadata.set_u32("general.sampling.mirostat", 3);
    EXPECT_EQ(test::error_of([&] { Sampler sampler(recommended_sampling(metadata, warnings)); }),
              "sampling: mirostat is 3, expected 0, 1 or 2");
    metadata.set_string("general.sampling.sequence", "");
    EXPECT_EQ(recommended_sampling(metadata, warnings).order, default_order());
}

TEST(samplers, seeds_repeat_and_random_ones_are_told) {
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling({}, warnings);
    Numbers logits{1, 2, 3, 2, 1, 2, 3, 2};
    Sampler random(options);
    EXPECT_NE(random.seed(), SamplingOptions::random_seed);
    options.seed = random.seed();
    Sampler again(options);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(random.sample(logits), again.sample(logits));
}

TEST(samplers, biases_forbid_and_force) {
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling({}, warnings);
    options.seed = 1;
    options.biases = {{0, -INFINITY}, {1, 100.0f}, {99, 5.0f}};
    EXPECT_EQ(Sampler(options).sample(Numbers{50, 1, 2}), 1);
}

TEST(samplers, bounds_are_asked_after_the_choice_and_then_for_all) {
    SamplingOptions options;
    options.order = default_order();
    options.temperature = 0;
    Sampler sampler(options);
    const Numbers logits{1, 3, 2, -INFINITY};
    int asked = 0, forbidden = 0;
    std::vector<bool> allowed{true, true, true, true};
    const Bounds bounds{.allows =
                            [&](int32_t token) {
                                ++asked;
                                return bool(allowed[size_t(token)]);
                            },
                        .forbid =
                            [&](std::span<float> all) {
                                ++forbidden;
                                for (size_t i = 0; i < all.size(); ++i)
                                    if (!allowed[i]) all[i] = -INFINITY;
                            }};
    EXPECT_EQ(sampler.sample(logits, &bounds), 1);
    EXPECT_EQ(std::pair(asked, forbidden), std::pair(1, 0));
    allowed[1] = false;
    EXPECT_EQ(sampler.sample(logits, &bounds), 2);
    EXPECT_EQ(std::pair(asked, forbidden), std::pair(2, 1));
    EXPECT_EQ(sampler.sample(logits), 1);
    allowed[0] = allowed[2] = false;
    EXPECT_NE(test::error_of([&] { sampler.sample(logits, &bounds); }).find("or a grammar forbid"),
              std::string::npos);
}

// What lies below the most likely tokens is found all the same.
TEST(samplers, bounds_come_before_all_samplers) {
    SamplingOptions options;
    options.order = default_order();
    options.top_k = 1;
    Sampler sampler(options);
    const Numbers logits{5, 4, 3, -20};
    const Bounds bounds{.allows = [](int32_t token) { return token == 3; },
                        .forbid =
                            [](std::span<float> all) {
                                for (size_t i = 0; i < 3; ++i) all[i] = -INFINITY;
                            }};
    EXPECT_EQ(sampler.sample(logits, &bounds), 3);
}

TEST(samplers, what_is_no_number_is_refused) {
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling({}, warnings);
    EXPECT_THROW(Sampler(options).sample(Numbers{1, NAN, 2}), Error);
    EXPECT_THROW(Sampler(options).sample(Numbers{1, INFINITY, 2}), Error);
    EXPECT_NO_THROW(Sampler(options).sample(Numbers{-INFINITY, 1, -INFINITY}));
    options.repeat_penalty = 0;
    EXPECT_THROW(Sampler{options}, Error);
    options.repeat_penalty = 1;
    options.top_p = NAN;
    EXPECT_THROW(Sampler{options}, Error);
}

TEST(samplers, where_nothing_is_left_to_draw_from_that_is_said) {
    std::vector<std::string> warnings;
    for (float temperature : {0.0f, 0.8f})
        for (int64_t top_k : {0, 1, 40}) {
            SamplingOptions options = recommended_sampling({}, warnings);
            options.temperature = temperature;
            options.top_k = top_k;
            options.biases = {{0, -INFINITY}, {1, -INFINITY}, {2, -INFINITY}};
            EXPECT_EQ(fault(options, {3, 2, 1}, {}),
                      "no token is left to choose: biases (-l, --ignore-eos), the model's "
                      "suppress_tokens, penalties or a grammar forbid all of them");
        }
}

TEST(samplers, penalties_that_are_too_large_are_refused) {
    std::vector<std::string> warnings;
    SamplingOptions options = recommended_sampling({}, warnings);
    options.order = default_order();
    options.seed = 1;
    const std::string large =
        "sampling: penalties or biases are too large: a token's logit is infinite with them";
    options.repeat_penalty = 1e-38f;
    EXPECT_EQ(fault(options, {30, 20, 10}, {1}), large);
    // Infinite both ways.
    options.frequency_penalty = 3e38f;
    EXPECT_EQ(fault(options, {30, 20, 10}, {1, 1}), large);
    // What is forbidden stays so.
    options.repeat_penalty = 1;
    options.frequency_penalty = -3e38f;
    EXPECT_EQ(fault(options, {30, -INFINITY, 10}, {1, 1}), "");
}

}  // namespace tandem::test
