// A sequence that was saved under one mapping goes on under any other: as the same sequence that
// was never interrupted there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data.h"
#include "kernels/vulkan.h"
#include "models/executor_on.h"
#include "models/golden.h"
#include "models/mapping.h"
#include "parallel/saved_state.h"

namespace tandem::test {
namespace {

using gguf::DType;
using Bytes = std::vector<std::byte>;

const parallel::Home ffn_on_1{.pattern = "ffn", .group = {1}};
const parallel::Home rest_on_2{.pattern = "token_embd|attn|ssm", .group = {0, 2}};

// Each goes on with what was saved under the one before.
const Mapping mappings[] = {{"tensor", 2, {3, 1}},   {"none", 1, {}},
                            {"tensor", 5, {}},       {"layer", 2, {}},
                            {"graph", 3, {9, 1, 9}}, {"tensor", 3, {}, {ffn_on_1, rest_on_2}},
                            {"tensor", 3, {1, 0, 1}}};
// Of devices that take their time.
const Mapping few_mappings[] = {{"tensor", 3, {3, 1, 2}}, {"none", 1, {}}, {"layer", 2, {}}};

struct Kind {
    const char* name;
    std::vector<std::string> devices;  // in turns
    bool rounds = true;
    bool slow = false;
};
const Kind kinds[] = {{"reference", {"reference"}, false},
                      {"cpu", {"cpu"}},
                      {"cpu_and_reference", {"cpu", "reference"}},
                      {"vulkan", {"vulkan0"}, true, true},
                      {"vulkan_and_cpu", {"vulkan0", "cpu"}, true, true}};

struct Case {
    const char* fixture;
    DType cache = DType::F32;
    double rounding = 0;  // of what caches hold, which a last bit may turn over
};
// Of every kind of state: caches, with windows, shared by layers, of latent rows, and those of
// convolutions and delta nets; caches whose numbers are rounded.
constexpr Case cases[] = {{"llama-rope-factors"},
                          {"gemma3"},
                          {"gpt-oss-mxfp4"},
                          {"gemma4-dense"},
                          {"qwen3next"},
                          {"qwen35-lin128"},
                          {"kimi-linear"},
                          {"deepseek2-lite"},
                          {"llama-rope-factors", DType::Q8_0, 1e-4},
                          {"gemma3", DType::F16, 1e-6}};
// What devices make of states is the same for all of a kind.
constexpr std::string_view usual[] = {"cpu_gemma3_F16", "cpu_kimi-linear_F32",
                                      "vulkan_llama-rope-factors_Q8_0"};

struct Parameter {
    const Kind* kind;
    const Case* how;

    std::string name() const {
        return std::string(kind->name) + "_" + how->fixture + "_" +
               std::string(gguf::name(how->cache));
    }
};

// A text, of which some is saved: behind it windows have left its beginning.
struct Text {
    std::vector<int32_t> tokens;
    size_t saved;

    std::span<const int32_t> beginning() const { return std::span(tokens).first(saved); }
    std::span<const int32_t> rest() const { return std::span(tokens).subspan(saved); }
};

class Trial {
  public:
    // Contexts and steps differ from place to place, and so do rings.
    Trial(const gguf::File& file, const Parameter& parameter, const Text& text,
          const Mapping& mapping, int64_t number, Devices& devices)
        : text_(text), devices_(devices) {
        cli::EngineOptions options;
        options.model.key_type = options.model.value_type = parameter.how->cache;
        options.model.context = int64_t(text.tokens.size()) + 3 * number;
        options.devices.clear();
        for (size_t i = 0; i < mapping.devices; ++i)
            options.devices.push_back(parameter.kind->devices[i % parameter.kind->devices.size()]);
        options.plan = {.mode = mapping.mode,
                        .ratio = mapping.ratio,
                        .bucket = int64_t(text.rest().size()) + number,
                        .homes = mapping.homes,
                        .home_devices = mapping.home_devices};
        blueprint_ = cli::make_blueprint(file, options);
        executor_ = executor_on(devices_, file, *blueprint_, options);
    }

    // The logits of the rest, uninterrupted; saves what is needed to go on.
    std::vector<float> logits_of_all() {
        evaluate(text_.beginning(), 0);
        saved_ = read();
        return evaluate(text_.rest(), text_.saved);
    }
    const std::vector<Bytes>& saved() const { return saved_; }

    // Another text takes the place of this one.
    void evaluate_another() {
        evaluate(std::vector<int32_t>(text_.tokens.rbegin(), text_.tokens.rend()), 0);
    }

    // The logits of the rest behind what was saved, perhaps elsewhere.
    std::vector<float> logits_behind(const std::vector<Bytes>& saved) {
        const auto states = parallel::saved_states(*blueprint_->graph, int64_t(text_.saved));
        EXPECT_EQ(states.size(), saved.size());
        for (size_t i = 0; i < states.size(); ++i) {
            EXPECT_EQ(states[i].bytes(), int64_t(saved[i].size()));
            write_state(holders(), states[i], states[i].inner, saved[i].data());
        }
        return evaluate(text_.rest(), text_.saved);
    }

  private:
    parallel::Holders holders() const { return {blueprint_->placed, blueprint_->plan, devices_}; }

    std::vector<Bytes> read() const {
        std::vector<Bytes> all;
        for (const auto& state : parallel::saved_states(*blueprint_->graph, int64_t(text_.saved)))
            read_state(holders(), state, all.emplace_back(size_t(state.bytes())).data());
        return all;
    }

    // In steps of the most tokens; gives all logits.
    std::vector<float> evaluate(std::span<const int32_t> tokens, size_t cached) {
        std::vector<float> logits;
        for (size_t first = 0; first < tokens.size();) {
            const size_t count = std::min(size_t(executor_->most_tokens()), tokens.size() - first);
            graph::StepInputs step;
            step.append(0, int32_t(cached + first), tokens.subspan(first, count));
            for (size_t i = 0; i < count; ++i) step.rows.push_back(int32_t(i));
            executor_->wait(executor_->submit(std::move(step)),
                            [&](int64_t, std::span<const float> rows) {
                                logits.insert(logits.end(), rows.begin(), rows.end());
                            });
            first += count;
        }
        return logits;
    }

    const Text& text_;
    Devices& devices_;
    std::unique_ptr<cli::Blueprint> blueprint_;
    std::unique_ptr<parallel::Executor> executor_;
    std::vector<Bytes> saved_;
};

// Where devices round, the choice of experts may be another for some rows and what follows them: of
// all rows the middle one counts.
double error_of(std::span<const float> found, std::span<const float> expected, size_t rows,
                bool rounds) {
    if (!rounds || found.size() != expected.size()) return nmse(found, expected);
    std::vector<double> errors;
    const size_t size = expected.size() / rows;
    for (size_t i = 0; i < rows; ++i)
        errors.push_back(nmse(found.subspan(i * size, size), expected.subspan(i * size, size)));
    std::ranges::nth_element(errors, errors.begin() + int64_t(rows / 2));
    return errors[rows / 2];
}

class SavedStates : public ::testing::TestWithParam<Parameter> {};

TEST_P(SavedStates, go_on_anywhere) {
    const auto& [kind, how] = GetParam();
    if (kind->slow && kernels::vulkan_adapters().list.empty())
        GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const Golden golden = read_golden(data("fixtures"), how->fixture);
    const gguf::File file = gguf::File::open(golden.model);
    const Text text{{golden.tokens.begin(), golden.tokens.begin() + 36}, 25};
    const double rounding = kind->rounds ? std::max(1e-5, 1.5 * golden.own_nmse) : 1e-10;
    const double bound = std::max(rounding, how->rounding);
    const std::span<const Mapping> wanted =
        kind->slow ? std::span<const Mapping>(few_mappings) : mappings;
    Devices devices;
    std::vector<Bytes> before;
    for (size_t i = 0; i < wanted.size(); ++i) {
        SCOPED_TRACE(std::string(how->fixture) + " " + to_string(wanted[i]));
        if (!kind->slow) devices.clear();  // makes pipelines only once
        Trial trial(file, GetParam(), text, wanted[i], int64_t(i), devices);
        const std::vector<float> expected = trial.logits_of_all();
        for (float logit : expected) ASSERT_TRUE(std::isfinite(logit));
        trial.evaluate_another();
        const auto error = [&](const std::vector<float>& found) {
            return error_of(found, expected, text.rest().size(), kind->rounds);
        };
        if (i > 0) {
            EXPECT_LE(error(trial.logits_behind(before)), bound);
        }
        const std::vector<float> here = trial.logits_behind(trial.saved());
        // A head that devices of several kinds hold comes from one of them.
        if (kind->devices.size() > 1) {
            EXPECT_LE(error(here), bound) << "where it was saved";
        } else {
            EXPECT_TRUE(here == expected) << "where it was saved";
        }
        before = trial.saved();
    }
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> list;
    for (const Kind& kind : kinds)
        for (const Case& how : cases) list.push_back({&kind, &how});
    return list;
}

// Those that other tests cover for the most part are long ones.
bool is_usual(const Parameter& parameter) {
    return !parameter.kind->rounds || std::ranges::find(usual, parameter.name()) != std::end(usual);
}

INSTANTIATE_TEST_SUITE_P(All, SavedStates, ::testing::ValuesIn(parameters()), [](const auto& info) {
    return name_of(info.param.name()) + (is_usual(info.param) ? "" : "_at_length");
});

}  // namespace
}  // namespace tandem::test
