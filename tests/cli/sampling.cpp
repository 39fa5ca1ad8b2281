// What users of the samplers see: the values, the chain, and notes on options that change nothing.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/tiny_model.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Result run(const Words& more, const std::string& model = tiny_model().string()) {
    Words words{"run", "-m", model, "-dev", "reference", "-p", "abc", "-n", "12", "-s", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Result result = tandem(words);
    EXPECT_EQ(result.code, 0) << result.error;
    return result;
}

// The notes on standard error, without that word.
std::string notes(const std::string& error) {
    std::string all;
    for (size_t begin = 0, end = 0; (end = error.find('\n', begin)) != error.npos; begin = end + 1)
        if (error.compare(begin, 6, "note: ") == 0) all += error.substr(begin + 6, end - begin - 5);
    return all;
}

std::string chain(const std::string& error) {
    const std::string title = "sampler chain: ";
    const size_t begin = error.find(title) + title.size();
    return error.substr(begin, error.find('\n', begin) - begin);
}

}  // namespace

TEST(sampling, is_told) {
    Result result = run({"--mirostat", "2", "--mirostat-ent", "3", "--mirostat-lr", "0.2"});
    EXPECT_EQ(chain(result.error), "logits -> temp -> mirostat-v2");
    EXPECT_NE(result.error.find("\tmirostat = 2, mirostat_lr = 0.200, mirostat_ent = 3.000, "),
              std::string::npos);
    EXPECT_EQ(notes(result.error), "");
    result = run({"--sampler-seq", "edika", "--dry-multiplier", "0.8", "--dry-base", "2",
                  "--dry-allowed-length", "3", "--dry-penalty-last-n", "-1", "-c", "48",
                  "--adaptive-target", "0.4", "--adaptive-decay", "0.5"});
    EXPECT_EQ(chain(result.error), "logits -> ?penalties -> dry -> infill -> top-k -> adaptive-p");
    EXPECT_NE(result.error.find("\tdry_multiplier = 0.800, dry_base = 2.000, dry_allowed_length = "
                                "3, dry_penalty_last_n = 48\n"),
              std::string::npos);
    EXPECT_NE(result.error.find(" adaptive_target = 0.400, adaptive_decay = 0.500\n"),
              std::string::npos);
    EXPECT_EQ(notes(result.error), "");
}

TEST(sampling, by_mirostat_ignores_other_samplers) {
    const std::string why =
        " no effect: mirostat takes the place of all samplers but the temperature (--mirostat 0: "
        "without it)\n";
    EXPECT_EQ(notes(run({"--mirostat", "1", "--top-k", "5", "--temp", "0.7"}).error),
              "--top-k has" + why);
    EXPECT_EQ(notes(run({"--mirostat", "1", "--top-k", "5", "--samplers", "top_k", "--min-p", "0.2",
                         "--dynatemp-range", "0.5", "--dry-multiplier", "1"})
                        .error),
              "--samplers, --top-k, --min-p, --dry-multiplier have" + why +
                  "--dynatemp-range has no effect: mirostat keeps to one temperature\n");
    // What is off is said to be so.
    EXPECT_EQ(notes(run({"--mirostat", "2", "--top-k", "0", "--top-p", "1", "--min-p", "0",
                         "--dynatemp-range", "0", "--dry-multiplier", "0"})
                        .error),
              "");
    const std::string recommends =
        changed_tiny_model("mirostat.gguf", {.keys =
                                                 [](auto& keys) {
                                                     keys.set_u32("general.sampling.mirostat", 2);
                                                     keys.set_f32("general.sampling.mirostat_tau",
                                                                  4);
                                                 }})
            .string();
    Result result = run({"--top-p", "0.5"}, recommends);
    EXPECT_EQ(notes(result.error),
              "--top-p has no effect: mirostat, which the model recommends, takes the place of all "
              "samplers but the temperature (--mirostat 0: without it)\n");
    EXPECT_NE(result.error.find("mirostat = 2, mirostat_lr = 0.100, mirostat_ent = 4.000, "),
              std::string::npos);
    result = run({"--top-p", "0.5", "--mirostat", "0"}, recommends);
    EXPECT_EQ(notes(result.error), "");
    EXPECT_EQ(chain(result.error),
              "logits -> ?penalties -> ?dry -> ?top-n-sigma -> top-k -> ?typical -> top-p -> min-p "
              "-> ?xtc -> temp-ext -> dist");
}

TEST(sampling, says_what_has_no_effect) {
    EXPECT_EQ(notes(run({"--adaptive-target", "0.3"}).error),
              "--adaptive-target has no effect: adaptive_p is not among the samplers "
              "(--samplers)\n");
    EXPECT_EQ(notes(run({"--dry-base", "1.5", "--dry-allowed-length", "4", "--adaptive-decay",
                         "0.5", "--mirostat-lr", "0.2", "--xtc-threshold", "0.2"})
                        .error),
              "--xtc-threshold has no effect without --xtc-probability\n"
              "--dry-base, --dry-allowed-length have no effect without --dry-multiplier\n"
              "--adaptive-decay has no effect without --adaptive-target\n"
              "--mirostat-lr has no effect without --mirostat\n");
    // Scripts may say all there is.
    EXPECT_EQ(notes(run({"--dry-multiplier", "0", "--dry-base", "1.75", "--xtc-probability", "0",
                         "--xtc-threshold", "0.1", "--mirostat", "0", "--mirostat-ent", "5",
                         "--adaptive-target", "-1", "--adaptive-decay", "0.9"})
                        .error),
              "");
    EXPECT_EQ(notes(run({"--samplers", "top_k", "--top-k", "3", "--dry-multiplier", "1"}).error),
              "--dry-multiplier has no effect: dry is not among the samplers (--samplers)\n");
}

TEST(sampling, at_temperature_0_takes_the_best) {
    const std::string best = run({"--temp", "0"}).out;
    for (const Words& sampler :
         {Words{"--mirostat", "1"}, Words{"--mirostat", "2", "--mirostat-ent", "1"},
          Words{"--adaptive-target", "0.2", "--samplers", "temp;adaptive_p"},
          // Nothing is allowed to be that long.
          Words{"--dry-multiplier", "5", "--dry-allowed-length", "50"}}) {
        Words words{"--temp", "0"};
        words.insert(words.end(), sampler.begin(), sampler.end());
        EXPECT_EQ(run(words).out, best) << sampler[0];
    }
}

TEST(sampling, by_dry_repeats_less) {
    auto text = [](const Words& more) {
        Words words{"--temp", "0", "-p", "abcabcab", "-l", "262+100,263+99", "-n", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words).out;
    };
    EXPECT_EQ(text({}), "abcabcabc\n");
    EXPECT_EQ(text({"--dry-multiplier", "200"}), "abcabcabd\n");
    // No repetition that is longer than what is allowed reaches behind a breaker.
    const Words on{"--dry-multiplier", "200"};
    auto breaking = [&](const Words& more) {
        Words words = on;
        for (const std::string& one : more) {
            words.push_back("--dry-sequence-breaker");
            words.push_back(one);
        }
        return text(words);
    };
    EXPECT_EQ(breaking({"x"}), "abcabcabd\n");
    EXPECT_EQ(breaking({"x", "a"}), "abcabcabc\n");
    EXPECT_EQ(breaking({"a", "none"}), "abcabcabd\n");
    EXPECT_EQ(breaking({"\\x61"}), "abcabcabc\n");
}

}  // namespace tandem::test
