#include "model/sampler/candidates.h"

#include <algorithm>
#include <cmath>

namespace tandem::model {

void Candidates::assign(std::span<const float> logits) {
    list.resize(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) list[i] = {.id = int32_t(i), .logit = logits[i]};
    sorted = false;
}

namespace {

constexpr size_t together = 64;  // logits that are looked at for one that is large

int32_t above(std::span<const float> logits, float least) {
    int32_t count = 0;
    for (float logit : logits) count += logit > least;
    return count;
}

}  // namespace

void Candidates::assign_largest(std::span<const float> logits, size_t count) {
    count = std::clamp<size_t>(count, 1, std::max<size_t>(1, logits.size()));
    assign(logits.first(std::min(count, logits.size())));
    // A heap whose first is the least of the largest so far: few logits are above it.
    std::make_heap(list.begin(), list.end(), before);
    for (size_t first = count; first < logits.size(); first += together) {
        const size_t last = std::min(first + together, logits.size());
        if (above(logits.subspan(first, last - first), list.front().logit) == 0) continue;
        for (size_t i = first; i < last; ++i) {
            if (!(logits[i] > list.front().logit)) continue;
            std::pop_heap(list.begin(), list.end(), before);
            list.back() = {.id = int32_t(i), .logit = logits[i]};
            std::push_heap(list.begin(), list.end(), before);
        }
    }
    std::sort_heap(list.begin(), list.end(), before);
    sorted = true;
}

void Candidates::keep(size_t count) {
    list.resize(std::clamp<size_t>(count, 1, std::max<size_t>(1, list.size())));
}

bool before(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void sort(Candidates& candidates) {
    if (!candidates.sorted) std::sort(candidates.list.begin(), candidates.list.end(), before);
    candidates.sorted = true;
}

void sort_first(Candidates& candidates, size_t count) {
    std::vector<Candidate>& list = candidates.list;
    if (candidates.sorted || count >= list.size() / 4) return sort(candidates);
    const auto end = list.begin() + int64_t(count);
    if (count <= 64) {
        std::partial_sort(list.begin(), end, list.end(), before);
    } else {
        std::nth_element(list.begin(), end, list.end(), before);
        std::sort(list.begin(), end, before);
    }
}

void change(Candidates& candidates, const std::unordered_map<int32_t, int>& numbers,
            const std::function<void(Candidate&, int)>& change) {
    std::vector<Candidate>& list = candidates.list;
    // At the beginning of a chain a token stands at its own place.
    auto at_home = [&](int32_t id) {
        return id >= 0 && size_t(id) < list.size() && list[size_t(id)].id == id;
    };
    if (std::ranges::all_of(numbers, [&](auto entry) { return at_home(entry.first); })) {
        for (auto [id, number] : numbers) change(list[size_t(id)], number);
    } else {
        for (Candidate& candidate : list)
            if (auto found = numbers.find(candidate.id); found != numbers.end())
                change(candidate, found->second);
    }
    if (!numbers.empty()) candidates.sorted = false;
}

float maximum(const Candidates& candidates) {
    float most = -INFINITY;
    for (const Candidate& candidate : candidates.list) most = std::max(most, candidate.logit);
    return most;
}

void softmax(Candidates& candidates) {
    const float most = maximum(candidates);
    float sum = 0;
    for (Candidate& candidate : candidates.list) {
        candidate.probability = std::exp(candidate.logit - most);
        sum += candidate.probability;
    }
    for (Candidate& candidate : candidates.list) candidate.probability /= sum;
}

float entropy(const Candidates& candidates) {
    float sum = 0;
    for (const Candidate& candidate : candidates.list)
        if (candidate.probability > 0)
            sum -= candidate.probability * std::log(candidate.probability);
    return sum;
}

}  // namespace tandem::model
