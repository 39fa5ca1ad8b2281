#include "model/sampler/mirostat.h"

#include <algorithm>
#include <cmath>

#include "model/sampler/draw.h"

namespace tandem::model {

namespace {

// How fast probabilities fall off, by Zipf's law, fitted to the first `seen` of a list in order.
// Nothing where there is one token alone.
float exponent_of(const Candidates& candidates, size_t seen) {
    float products = 0, squares = 0;
    for (size_t i = 0; i + 1 < std::min(seen, candidates.list.size()); ++i) {
        const float next = candidates.list[i + 1].logit;
        if (next == -INFINITY) break;
        const float step = std::log(float(i + 2) / float(i + 1));
        products += step * (candidates.list[i].logit - next);
        squares += step * step;
    }
    return squares > 0 ? products / squares : INFINITY;
}

// How many tokens of such a list have no more than that surprise, in bits.
size_t count_of(const Candidates& candidates, float exponent, float surprise) {
    const float size = float(candidates.list.size()), rest = exponent - 1;
    if (std::isinf(exponent)) return 1;
    const float scale = rest == 0 ? 1 / std::log(size) : rest / (1 - std::pow(size, -rest));
    const float count = std::pow(scale * std::exp2(surprise), 1 / exponent);
    if (!(count >= 1)) return 1;
    return count < size ? size_t(count) : candidates.list.size();
}

void keep_best(Candidates& candidates, size_t count) {
    sort_first(candidates, count);
    candidates.keep(count);
    candidates.sorted = true;
}

void keep_by_estimate(Candidates& candidates, float surprise) {
    constexpr size_t seen = 100;
    sort_first(candidates, std::min(seen, candidates.list.size()));
    const float exponent = exponent_of(candidates, seen);
    keep_best(candidates, count_of(candidates, exponent, surprise));
}

void keep_by_surprise(Candidates& candidates, float surprise) {
    softmax(candidates);
    const float least = std::exp2(-surprise);
    const auto count = std::ranges::count_if(candidates.list, [&](const Candidate& candidate) {
        return candidate.probability >= least && candidate.probability > 0;
    });
    keep_best(candidates, size_t(std::max<int64_t>(1, count)));
}

}  // namespace

size_t Mirostat::draw(Candidates& candidates, Random& random) {
    require_drawable(candidates);
    if (version_ == 1)
        keep_by_estimate(candidates, allowed_);
    else
        keep_by_surprise(candidates, allowed_);
    softmax(candidates);
    const size_t chosen = draw_by_probability(candidates, random);
    const float surprise = -std::log2(candidates.list[chosen].probability);
    allowed_ -= rate_ * (surprise - target_);
    return chosen;
}

}  // namespace tandem::model
