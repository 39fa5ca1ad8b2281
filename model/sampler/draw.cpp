#include "model/sampler/draw.h"

#include <cmath>

#include "gguf/error.h"

namespace tandem::model {

namespace {

double sum_of(const Candidates& candidates) {
    double sum = 0;
    for (const Candidate& candidate : candidates.list) sum += candidate.probability;
    return sum;
}

}  // namespace

void require_drawable(const Candidates& candidates) {
    const float most = maximum(candidates);
    if (most == -INFINITY)
        throw Error(
            "no token is left to choose: biases (-l, --ignore-eos), the model's suppress_tokens, "
            "penalties or a grammar forbid all of them");
    if (most == INFINITY)
        throw Error(
            "sampling: penalties or biases are too large: a token's logit is infinite with them");
}

size_t draw(Candidates& candidates, Random& random) {
    require_drawable(candidates);
    const float most = maximum(candidates);
    for (Candidate& candidate : candidates.list)
        candidate.probability = std::exp(candidate.logit - most);
    const size_t chosen = draw_by_probability(candidates, random);
    const double sum = sum_of(candidates);
    for (Candidate& candidate : candidates.list)
        candidate.probability = float(candidate.probability / sum);
    return chosen;
}

size_t draw_by_probability(const Candidates& candidates, Random& random) {
    const std::vector<Candidate>& list = candidates.list;
    if (list.size() == 1) return 0;
    const double share = random.uniform() * sum_of(candidates);
    double so_far = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < list.size(); ++i) {
        if (!(list[i].probability > 0)) continue;
        chosen = i;
        so_far += list[i].probability;
        if (so_far >= share) break;
    }
    return chosen;
}

}  // namespace tandem::model
