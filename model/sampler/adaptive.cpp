#include "model/sampler/adaptive.h"

#include <algorithm>
#include <cmath>

#include "model/sampler/draw.h"

namespace tandem::model {

namespace {

constexpr float highest = 5, steepness = 10, width = 0.3f;

// Falls with the distance of a probability from the target, first by its square, then linearly.
float preference(float probability, float target) {
    const float distance = std::abs(probability - target) / width;
    return highest - steepness * distance * distance / (1 + distance);
}

}  // namespace

size_t Adaptive::draw(Candidates& candidates, Random& random) {
    require_drawable(candidates);
    softmax(candidates);
    const float moved = std::clamp(2 * target_ - sum_ / weight_, 0.0f, 1.0f);
    std::vector<float> at_first;
    for (Candidate& candidate : candidates.list) {
        at_first.push_back(candidate.probability);
        if (candidate.logit != -INFINITY)
            candidate.logit = preference(candidate.probability, moved);
    }
    candidates.sorted = false;
    softmax(candidates);
    const size_t chosen = draw_by_probability(candidates, random);
    drawn_ = candidates.list[chosen].id;
    probability_ = at_first[chosen];
    return chosen;
}

void Adaptive::accept(int32_t token) {
    if (token == drawn_) {
        sum_ = probability_ + decay_ * sum_;
        weight_ = 1 + decay_ * weight_;
    }
    drawn_.reset();
}

}  // namespace tandem::model
