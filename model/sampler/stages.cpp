// The samplers. Where they come from:
// top_p: arXiv 1904.09751; typ_p: arXiv 2202.00666; min_p: arXiv 2407.01082;
// top_n_sigma: arXiv 2411.07641; penalties: arXiv 1909.05858.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/sampler/dry.h"
#include "model/sampler/infill.h"
#include "model/sampler/stage.h"

namespace tandem::model {

namespace {

// The shortest beginning whose probabilities add up to `sum` or `above` it.
size_t prefix(const Candidates& candidates, float sum, bool above) {
    float so_far = 0;
    for (size_t i = 0; i < candidates.list.size(); ++i) {
        so_far += candidates.list[i].probability;
        if (above ? so_far > sum : so_far >= sum) return i + 1;
    }
    return candidates.list.size();
}

// Every token of the window counts once for `repeat`, each time for `frequency`.
void penalize(Candidate& candidate, int count, const SamplingOptions& options) {
    if (candidate.logit == -INFINITY) return;  // forbidden, whatever the penalties
    if (candidate.logit <= 0)
        candidate.logit *= options.repeat_penalty;
    else
        candidate.logit /= options.repeat_penalty;
    candidate.logit -= float(count) * options.frequency_penalty + options.presence_penalty;
    if (std::isnan(candidate.logit)) candidate.logit = INFINITY;  // too large, which draw() tells
}

bool penalties_active(const SamplingOptions& options) {
    return options.penalty_last_n > 0 &&
           (options.repeat_penalty != 1 || options.frequency_penalty != 0 ||
            options.presence_penalty != 0);
}

void penalties(Candidates& candidates, StageState state) {
    change(candidates, state.history.counts(),
           [&](Candidate& candidate, int count) { penalize(candidate, count, state.options); });
}

// Drops what is further than n standard deviations below the largest logit.
void top_n_sigma(Candidates& candidates, StageState state) {
    float sum = 0, squares = 0, count = 0;
    for (const Candidate& candidate : candidates.list) {
        if (candidate.logit == -INFINITY) continue;
        sum += candidate.logit;
        ++count;
    }
    if (count == 0) return;
    const float mean = sum / count;
    for (const Candidate& candidate : candidates.list)
        if (candidate.logit != -INFINITY)
            squares += (candidate.logit - mean) * (candidate.logit - mean);
    const float least =
        maximum(candidates) - state.options.top_n_sigma * std::sqrt(squares / count);
    for (Candidate& candidate : candidates.list)
        if (candidate.logit < least) candidate.logit = -INFINITY;
}

void top_k(Candidates& candidates, StageState state) {
    const size_t count = std::min(size_t(state.options.top_k), candidates.list.size());
    sort_first(candidates, count);
    candidates.keep(count);
    candidates.sorted = true;
}

// Lists of large vocabularies are not worth sorting: most of a chain's work would be that.
void begin_with_top_k(Candidates& candidates, std::span<const float> logits,
                      const SamplingOptions& options) {
    candidates.assign_largest(logits, size_t(options.top_k));
}

// Prefers tokens whose surprise is near the expected one.
void typ_p(Candidates& candidates, StageState state) {
    sort(candidates);
    softmax(candidates);
    const float expected = entropy(candidates);
    auto distance = [&](const Candidate& candidate) {
        return std::abs(-std::log(candidate.probability) - expected);
    };
    std::stable_sort(
        candidates.list.begin(), candidates.list.end(),
        [&](const Candidate& a, const Candidate& b) { return distance(a) < distance(b); });
    candidates.keep(prefix(candidates, state.options.typical_p, true));
    candidates.sorted = false;
}

void top_p(Candidates& candidates, StageState state) {
    softmax(candidates);
    for (size_t count = 256;; count *= 8) {
        sort_first(candidates, count);
        const size_t kept = prefix(candidates, state.options.top_p, false);
        if (kept > count && !candidates.sorted) continue;
        candidates.keep(kept);
        candidates.sorted = true;
        return;
    }
}

void min_p(Candidates& candidates, StageState state) {
    const float least = maximum(candidates) + std::log(state.options.min_p);
    auto enough = [&](const Candidate& candidate) { return candidate.logit >= least; };
    const size_t count =
        size_t(std::count_if(candidates.list.begin(), candidates.list.end(), enough));
    if (count > 0) {
        std::erase_if(candidates.list, [&](const Candidate& c) { return !enough(c); });
    } else {
        sort(candidates);
        candidates.keep(1);
    }
}

bool xtc_active(const SamplingOptions& options) {
    return options.xtc_probability > 0 && options.xtc_threshold <= 0.5f;
}

// Now and then drops all the likely tokens but the least likely of them.
void xtc(Candidates& candidates, StageState state) {
    if (candidates.list.size() < 2) return;
    if (state.random.uniform_float() > state.options.xtc_probability) return;
    sort(candidates);
    softmax(candidates);
    size_t likely = 0;
    while (likely < candidates.list.size() &&
           candidates.list[likely].probability >= state.options.xtc_threshold)
        ++likely;
    if (likely < 2) return;
    candidates.list.erase(candidates.list.begin(), candidates.list.begin() + int64_t(likely) - 1);
}

// 0: only the first of the largest logits remains possible.
void divide(Candidates& candidates, float temperature) {
    if (temperature > 0) {
        temperature = std::min(temperature, std::numeric_limits<float>::max());
        const float most = maximum(candidates);
        // Differences make the same probabilities, and the largest one's quotient is always finite.
        const bool overflows = std::isfinite(most) && !std::isfinite(most / temperature);
        const float shift = overflows ? most : 0;
        for (Candidate& candidate : candidates.list)
            candidate.logit = (candidate.logit - shift) / temperature;
        return;
    }
    auto best =
        std::max_element(candidates.list.begin(), candidates.list.end(),
                         [](const Candidate& a, const Candidate& b) { return a.logit < b.logit; });
    for (auto it = candidates.list.begin(); it != candidates.list.end(); ++it)
        if (it != best) it->logit = -INFINITY;
}

// With a range: hotter the less certain the model is.
void temperature(Candidates& candidates, StageState state) {
    const SamplingOptions& options = state.options;
    if (options.temperature_range <= 0) return divide(candidates, options.temperature);
    if (candidates.list.size() < 2) return;
    const float least = std::max(0.0f, options.temperature - options.temperature_range);
    const float most = options.temperature + options.temperature_range;
    sort(candidates);
    softmax(candidates);
    const float share = entropy(candidates) / std::log(float(candidates.list.size()));
    divide(candidates, least + (most - least) * std::pow(share, options.temperature_exponent));
}

constexpr Stage table[] = {
    {"penalties", "", 'e', "penalties", penalties_active, penalties},
    {"dry", "", 'd', "dry", dry_active, dry},
    {"top_n_sigma", "|topnsigma|", 's', "top-n-sigma",
     [](const SamplingOptions& options) { return options.top_n_sigma > 0; }, top_n_sigma},
    {"top_k", "|topk|", 'k', "top-k",
     [](const SamplingOptions& options) { return options.top_k > 0; }, top_k, begin_with_top_k},
    {"typ_p", "|typp|typ|", 'y', "typical",
     [](const SamplingOptions& options) { return options.typical_p < 1; }, typ_p},
    {"top_p", "|topp|nucleus|", 'p', "top-p",
     [](const SamplingOptions& options) { return options.top_p < 1; }, top_p},
    {"min_p", "|minp|", 'm', "min-p",
     [](const SamplingOptions& options) { return options.min_p > 0; }, min_p},
    {"xtc", "", 'x', "xtc", xtc_active, xtc},
    {"temperature", "|temp|", 't', "temp-ext", [](const SamplingOptions&) { return true; },
     temperature},
    {"infill", "", 'i', "infill", [](const SamplingOptions&) { return true; }, infill},
    {"adaptive_p", "|adaptivep|", 'a', "adaptive-p",
     [](const SamplingOptions& options) { return options.adaptive_target >= 0; }, nullptr},
};

}  // namespace

std::span<const Stage> stages() { return table; }

}  // namespace tandem::model
