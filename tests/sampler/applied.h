// One sampler over probabilities that can be checked by eye.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "model/sampler/stage.h"

namespace tandem::test {

using namespace model;

using Numbers = std::vector<float>;
using Change = std::function<void(SamplingOptions&)>;

// Applies one sampler and gives the probabilities of what is left, in the order of the list.
inline Numbers apply(const std::string& name, const Numbers& probabilities, const Change& change,
                     std::vector<int32_t> history = {}, const Breakers& breakers = {}) {
    SamplingOptions options;
    change(options);
    std::vector<std::string> warnings;
    const Stage* stage = stages_by_names(name, warnings).at(0);
    Numbers logits;
    for (float p : probabilities) logits.push_back(std::log(p));
    Candidates candidates;
    candidates.assign(logits);
    History accepted(options.penalty_last_n);
    for (int32_t token : history) accepted.accept(token);
    Random random(1);
    if (stage->active(options)) stage->apply(candidates, {options, accepted, random, &breakers});
    softmax(candidates);
    Numbers result;
    for (const Candidate& candidate : candidates.list) result.push_back(candidate.probability);
    return result;
}

inline void expect(const Numbers& result, const Numbers& expected) {
    ASSERT_EQ(result.size(), expected.size());
    for (size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-4) << i;
}

inline const Numbers rising{.1f, .2f, .3f, .4f}, even{.2f, .2f, .2f, .2f, .2f};

}  // namespace tandem::test
