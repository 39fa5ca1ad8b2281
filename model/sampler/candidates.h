// The tokens that may come next, as the samplers see them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tandem::model {

struct Candidate {
    int32_t id = 0;
    float logit = 0;
    float probability = 0;  // of the last softmax
};

struct Candidates {
    std::vector<Candidate> list;  // at first all tokens in the order of their ids
    bool sorted = false;          // by logit, largest first

    void assign(std::span<const float> logits);
    // Those whose logits are largest, in order: what sorting all and keeping `count` gives.
    void assign_largest(std::span<const float> logits, size_t count);
    // Cuts the list to its first `count`, of which there is at least one.
    void keep(size_t count);
};

// Larger logits first; ids decide between equal ones, so that the order is always the same.
bool before(const Candidate& a, const Candidate& b);
void sort(Candidates& candidates);
// Puts the first `count` where sorting would put them, the rest in any order behind them.
// Vocabularies are large, and what is chosen from stands near the front.
void sort_first(Candidates& candidates, size_t count);
// Gives those of these tokens that are listed to `change`, each with its number; the list is in no
// order afterwards.
void change(Candidates& candidates, const std::unordered_map<int32_t, int>& numbers,
            const std::function<void(Candidate&, int)>& change);
// The largest logit.
float maximum(const Candidates& candidates);
// Sets the probabilities; sums are taken in the order of the list, in f32.
void softmax(Candidates& candidates);
// Of the probabilities, in nats.
float entropy(const Candidates& candidates);

}  // namespace tandem::model
