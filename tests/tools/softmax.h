// The softmax of logits in plain words, for tests of what computes it faster.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace tandem::test {

inline std::vector<double> log_probabilities(std::span<const float> logits) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (float logit : logits) sum += std::exp(logit - most);
    std::vector<double> logs;
    for (float logit : logits) logs.push_back(logit - most - std::log(sum));
    return logs;
}

}  // namespace tandem::test
