#include "model/sampler/dry.h"

#include <algorithm>
#include <cmath>

#include "gguf/error.h"

namespace tandem::model {

namespace {

// Of the text without its last 1, 2, 3 ... tokens: how many at its end are those at the end of the
// text. The algorithm "Z", from the end on: what is known of one match is known of all inside it.
std::vector<int32_t> matches(std::span<const int32_t> text) {
    const int64_t size = int64_t(text.size());
    auto back = [&](int64_t i) { return text[size_t(size - 1 - i)]; };
    std::vector<int32_t> lengths(text.size(), 0);
    int64_t begin = 0, end = 0;  // of the match that reaches furthest back
    for (int64_t i = 1; i < size; ++i) {
        int64_t length = i < end ? std::min<int64_t>(end - i, lengths[size_t(i - begin)]) : 0;
        while (i + length < size && back(length) == back(i + length)) ++length;
        lengths[size_t(i)] = int32_t(length);
        if (i + length > end) {
            begin = i;
            end = i + length;
        }
    }
    return lengths;
}

}  // namespace

bool dry_active(const SamplingOptions& options) {
    return options.dry_multiplier != 0 && options.dry_last_n > 0;
}

void dry(Candidates& candidates, StageState state) {
    const SamplingOptions& options = state.options;
    const std::span<const int32_t> text = state.history.last(options.dry_last_n);
    const int64_t allowed = options.dry_allowed_length;
    if (int64_t(text.size()) <= allowed) return;
    const std::vector<int32_t> lengths = matches(text);
    const int32_t longest = *std::ranges::max_element(lengths);
    check(state.breakers != nullptr, "dry is given its breakers");
    const int64_t limit = state.breakers->behind(text, longest);
    if (limit < allowed) return;
    std::unordered_map<int32_t, int> repeated;  // by the token that would repeat one more
    for (size_t i = 1; i < text.size(); ++i) {
        const int length = int(std::min<int64_t>(lengths[i], limit));
        if (length < allowed) continue;
        int& most = repeated[text[text.size() - i]];
        most = std::max(most, length);
    }
    // More would be infinite.
    const float largest = options.dry_base > 1.000001f
                              ? std::floor(88.7228391f / std::log(options.dry_base))
                              : INFINITY;
    change(candidates, repeated, [&](Candidate& candidate, int length) {
        if (candidate.logit == -INFINITY || state.breakers->has(candidate.id)) return;
        const float exponent = std::min(float(length - allowed), largest);
        candidate.logit -= options.dry_multiplier * std::pow(options.dry_base, exponent);
    });
}

}  // namespace tandem::model
