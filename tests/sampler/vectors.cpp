// Against an established engine: the same candidates, probabilities and choices, draw by draw.
// The records are made by llama.cpp; those that keep a least number of tokens, which does not
// exist here, are left out.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "data.h"
#include "model/sampler/adaptive.h"
#include "model/sampler/draw.h"
#include "model/sampler/mirostat.h"
#include "model/sampler/stage.h"

namespace tandem::test {

using namespace model;
using nlohmann::json;

namespace {

const Stage* stage(const std::string& name) {
    std::vector<std::string> warnings;
    auto order = stages_by_names(name, warnings);
    return order.empty() ? nullptr : order[0];
}

// A chain with generators of its own, so that a record may seed each as it wants.
struct Chain {
    SamplingOptions options;
    std::vector<const Stage*> order;
    Breakers breakers;
    std::optional<Mirostat> mirostat;
    std::optional<Adaptive> adaptive;
    uint32_t seed = 0, xtc_seed = 0;
};

// "typ_p 0.8", "penalties(64,1.1,0.1,0.1)", "xtc(0.5,0.1,seed 42)"
void read_link(const std::string& text, Chain& chain) {
    size_t end = text.find_first_of(" (");
    std::string name = text.substr(0, end);
    if (name == "dist") return;
    std::vector<float> values;
    for (size_t at = end; at != std::string::npos && at < text.size();) {
        size_t digit = text.find_first_of("0123456789.", at);
        if (digit == std::string::npos) break;
        values.push_back(std::stof(text.substr(digit)));
        at = text.find_first_not_of("0123456789.", digit);
    }
    SamplingOptions& options = chain.options;
    chain.order.push_back(stage(name));
    if (name == "top_k") options.top_k = int64_t(values[0]);
    if (name == "typ_p") options.typical_p = values[0];
    if (name == "top_p") options.top_p = values[0];
    if (name == "min_p") options.min_p = values[0];
    if (name == "temp") options.temperature = values[0];
    if (name == "top_n_sigma") options.top_n_sigma = values[0];
    if (name == "penalties") {
        options.penalty_last_n = int64_t(values[0]);
        options.repeat_penalty = values[1];
        options.frequency_penalty = values[2];
        options.presence_penalty = values[3];
    }
    if (name == "xtc") {
        options.xtc_probability = values[0];
        options.xtc_threshold = values[1];
        chain.xtc_seed = uint32_t(values[2]);
    }
}

Chain read_chain(const json& record) {
    const json& params = record["params"];
    Chain chain;
    chain.seed = params["seed"];
    if (params.contains("order")) {
        std::string order = params["order"];
        int depth = 0;
        std::string link;
        for (char c : order + ",") {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c != ',' || depth > 0) {
                if (c != ' ' || !link.empty()) link += c;
                continue;
            }
            read_link(link, chain);
            link.clear();
        }
        return chain;
    }
    SamplingOptions& options = chain.options;
    auto number = [&](const char* name, auto& value) {
        if (params.contains(name)) value = params[name];
    };
    number("temp", options.temperature);
    number("dynatemp_range", options.temperature_range);
    number("dynatemp_exponent", options.temperature_exponent);
    number("top_k", options.top_k);
    number("top_p", options.top_p);
    number("min_p", options.min_p);
    number("typ_p", options.typical_p);
    number("top_n_sigma", options.top_n_sigma);
    number("xtc_probability", options.xtc_probability);
    number("xtc_threshold", options.xtc_threshold);
    number("xtc_seed", chain.xtc_seed);
    number("last_n", options.penalty_last_n);
    number("repeat", options.repeat_penalty);
    number("freq", options.frequency_penalty);
    number("present", options.presence_penalty);
    std::string sampler = record["sampler"];
    if (sampler == "dry") {
        number("multiplier", options.dry_multiplier);
        number("base", options.dry_base);
        number("allowed_length", options.dry_allowed_length);
        number("last_n", options.dry_last_n);
        for (const std::vector<int32_t> breaker : params["breakers"])
            chain.breakers.add(breaker[0], {breaker.begin() + 1, breaker.end()});
    }
    if (sampler.starts_with("mirostat")) {
        chain.mirostat.emplace(sampler == "mirostat" ? 1 : 2, params["tau"], params["eta"]);
        sampler = "temp";
    }
    if (sampler == "adaptive_p") {
        if (params["target"] >= 0) chain.adaptive.emplace(params["target"], params["decay"]);
        sampler = "min_p";
    }
    if (sampler == "temp_ext") sampler = "temp";
    if (sampler == "typical") sampler = "typ_p";
    if (const Stage* only = stage(sampler)) chain.order.push_back(only);
    return chain;
}

void expect_near(float value, const json& expected, const std::string& of) {
    if (expected.is_string()) {
        EXPECT_EQ(value, -INFINITY) << of;
    } else {
        EXPECT_NEAR(value, expected.get<float>(), 1e-5 * std::abs(expected.get<float>())) << of;
    }
}

void follow(const json& record) {
    Chain chain = read_chain(record);
    std::vector<float> logits = record["logits"];
    for (const json& bias : record["params"].value("bias", json::array()))
        logits[bias[0]] += bias[1].is_string() ? -INFINITY : bias[1].get<float>();
    History history(chain.options.penalty_last_n);
    for (int32_t token : record["history"]) history.accept(token);
    Random random(chain.seed), xtc_random(chain.xtc_seed);
    for (const json& step : record["steps"]) {
        Candidates candidates;
        candidates.assign(logits);
        for (const Stage* stage : chain.order)
            if (stage->active(chain.options))
                stage->apply(candidates, {chain.options, history, xtc_random, &chain.breakers});
        size_t chosen = chain.mirostat   ? chain.mirostat->draw(candidates, random)
                        : chain.adaptive ? chain.adaptive->draw(candidates, random)
                                         : draw(candidates, random);
        ASSERT_EQ(candidates.list.size(), size_t(step["n_cand"]));
        EXPECT_EQ(candidates.list[chosen].id, step["token"]);
        expect_near(candidates.list[chosen].probability, step["p"], "probability of the choice");
        for (size_t i = 0; step.contains("cand") && i < step["cand"].size(); ++i) {
            const json& expected = step["cand"][i];
            std::string of = "candidate " + std::to_string(i);
            ASSERT_EQ(candidates.list[i].id, expected[0]) << of;
            expect_near(candidates.list[i].logit, expected[1], of);
            expect_near(candidates.list[i].probability, expected[2], of);
        }
        history.accept(candidates.list[chosen].id);
        if (chain.adaptive) chain.adaptive->accept(candidates.list[chosen].id);
    }
}

}  // namespace

TEST(sampler, chooses_as_an_established_engine_does) {
    std::ifstream in(data("sampling.jsonl"));
    ASSERT_TRUE(in);
    int count = 0;
    for (std::string line; std::getline(in, line); ++count) {
        json record = json::parse(line);
        SCOPED_TRACE(record["sampler"].get<std::string>() + " " + record["params"].dump());
        follow(record);
    }
    EXPECT_EQ(count, 56);
}

}  // namespace tandem::test
