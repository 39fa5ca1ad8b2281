#include "model/sampler/infill.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "gguf/error.h"

namespace tandem::model {

namespace {

constexpr float least = 0.2f;  // probability of a token that is taken for meant

bool ends(const Candidate& candidate, const Tokenizer& tokenizer) {
    return tokenizer.ends_generation(candidate.id);
}

void drop(Candidate& candidate) {
    candidate.logit = -INFINITY;
    candidate.probability = 0;
}

// Of two tokens of which one is the beginning of the other the likelier one stands for both. That
// depends on the order in which they are looked at, which is that of the list.
void merge(std::vector<Candidate>& list, const Tokenizer& tokenizer) {
    using Entry = std::pair<std::string_view, size_t>;  // a text and its place in the list
    std::vector<Entry> by_text;
    for (size_t place = 0; place < list.size(); ++place)
        if (const std::string_view text = tokenizer.piece(list[place].id); !text.empty())
            by_text.emplace_back(text, place);
    std::vector<Entry> in_order = by_text;
    std::ranges::sort(by_text);
    std::vector<size_t> longer;
    for (const auto& [begin, shorter] : in_order) {
        if (list[shorter].logit == -INFINITY) continue;
        // Texts with one beginning stand together.
        longer.clear();
        for (auto entry = std::ranges::lower_bound(by_text, Entry(begin, 0));
             entry != by_text.end() && entry->first.starts_with(begin); ++entry)
            if (list[entry->second].logit != -INFINITY) longer.push_back(entry->second);
        std::ranges::sort(longer);
        for (size_t place : longer) {
            if (list[shorter].logit == -INFINITY) break;
            if (place == shorter) continue;
            Candidate *kept = &list[shorter], *gone = &list[place];
            if (gone->probability > kept->probability) std::swap(kept, gone);
            kept->probability += gone->probability;
            drop(*gone);
        }
    }
}

// The token that ends what is filled in, where there is one that is not forbidden.
std::optional<int32_t> end_of(const Tokenizer& tokenizer, const SamplingOptions& options) {
    for (std::optional<int32_t> id : {tokenizer.special_ids().eot, tokenizer.eos()}) {
        const bool forbidden = std::ranges::any_of(options.biases, [&](auto bias) {
            return bias.first == id && bias.second == -INFINITY;
        });
        if (id && !forbidden) return id;
    }
    return {};
}

// Keeps what ends a text and all else that has that probability; gives how many of these.
int64_t keep_likely(std::vector<Candidate>& list, float probability, const Tokenizer& tokenizer) {
    std::erase_if(list, [&](const Candidate& candidate) {
        return candidate.probability < probability && !ends(candidate, tokenizer);
    });
    return std::ranges::count_if(
        list, [&](const Candidate& candidate) { return !ends(candidate, tokenizer); });
}

}  // namespace

void infill(Candidates& candidates, StageState state) {
    check(state.tokenizer != nullptr, "infill is given the tokenizer");
    const Tokenizer& tokenizer = *state.tokenizer;
    std::vector<Candidate>& list = candidates.list;
    if (maximum(candidates) == -INFINITY) return;  // which the draw tells
    sort(candidates);
    softmax(candidates);
    float end = 0, text = 0;
    for (const Candidate& candidate : list)
        (ends(candidate, tokenizer) ? end : text) += candidate.probability;
    if (3 * end * float(list.size()) > text) {
        std::erase_if(list, [&](const Candidate& c) { return !ends(c, tokenizer); });
        return;
    }
    merge(list, tokenizer);
    const Candidate likeliest = *std::ranges::max_element(list, {}, &Candidate::probability);
    const int64_t texts = keep_likely(list, least, tokenizer);
    if (texts == 0) {
        const std::optional<int32_t> id = end_of(tokenizer, state.options);
        list = {id ? Candidate{.id = *id} : likeliest};
        return;
    }
    float sum = 0;
    for (const Candidate& candidate : list) sum += candidate.probability;
    keep_likely(list, sum / float(texts + 1), tokenizer);
}

}  // namespace tandem::model
