#include "model/sampler/breakers.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tandem::model {

namespace {

constexpr size_t most_bytes = 40, most_tokens = 20;

}  // namespace

Breakers::Breakers(std::span<const std::string> texts, const Tokenizer& tokenizer) {
    for (const std::string& text : texts)
        if (!text.empty()) add(text.substr(0, most_bytes), tokenizer);
}

void Breakers::add(const std::string& text, const Tokenizer& tokenizer) {
    // A rest is the same behind every token that ends where it begins.
    std::vector<std::optional<std::vector<int32_t>>> rests(text.size());
    auto rest_from = [&](size_t begin) -> const std::vector<int32_t>& {
        if (!rests[begin]) {
            rests[begin] = tokenizer.encode(std::string_view(text).substr(begin),
                                            {.add_special = false, .parse_special = false});
            rests[begin]->resize(std::min(rests[begin]->size(), most_tokens));
        }
        return *rests[begin];
    };
    for (int32_t id = 0; id < tokenizer.size(); ++id) {
        const std::string_view piece = tokenizer.piece(id, true);
        if (piece.find(text) != piece.npos) {
            add(id, std::vector<int32_t>());
            continue;
        }
        for (size_t length = 1; length <= std::min(piece.size(), text.size() - 1); ++length)
            if (piece.ends_with(std::string_view(text).substr(0, length)))
                add(id, rest_from(length));
    }
}

void Breakers::add(int32_t head, const std::vector<int32_t>& tail) {
    std::vector<std::vector<int32_t>>& tails = tails_[head];
    if (std::ranges::find(tails, tail) == tails.end()) tails.push_back(tail);
    longest_ = std::max(longest_, int64_t(tail.size()));
}

bool Breakers::has(int32_t token) const {
    const auto found = tails_.find(token);
    return found != tails_.end() &&
           std::ranges::find(found->second, std::vector<int32_t>()) != found->second.end();
}

int64_t Breakers::behind(std::span<const int32_t> text, int64_t most) const {
    const int64_t size = int64_t(text.size());
    for (int64_t follow = 0; follow < std::min(size, most + longest_); ++follow) {
        const auto found = tails_.find(text[size_t(size - 1 - follow)]);
        if (found == tails_.end()) continue;
        const auto following = text.last(size_t(follow));
        int64_t longest = -1;
        for (const std::vector<int32_t>& tail : found->second)
            if (int64_t(tail.size()) <= follow &&
                std::ranges::equal(tail, following.first(tail.size())))
                longest = std::max(longest, int64_t(tail.size()));
        if (longest >= 0) return std::min(most, follow - longest);
    }
    return most;
}

}  // namespace tandem::model
