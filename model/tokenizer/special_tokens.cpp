#include "model/tokenizer/special_tokens.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tandem::model {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

std::string_view without_last_spaces(std::string_view text) {
    return text.substr(0, text.find_last_not_of(white_space) + 1);
}

std::string_view without_first_spaces(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(white_space), text.size()));
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary, const Swallowing& swallowing,
                             const std::set<int32_t>& shown) {
    for (int32_t id = 0; id < vocabulary.size(); ++id) {
        const auto& [text, type, score] = vocabulary[id];
        const bool always = type == TokenType::UserDefined;
        if (!always && type != TokenType::Control && type != TokenType::Unknown) continue;
        const bool boundary = text == "<unk>" || text == "<s>" || text == "<|endoftext|>";
        candidates_.push_back({.text = text,
                               .id = id,
                               .always = always,
                               .syntax = !always || shown.contains(id),
                               .swallows_left = text == swallowing.left,
                               .swallows_right = swallowing.right && !boundary});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const auto& left, const auto& right) {
        return std::tuple(right.text.size(), left.id) < std::tuple(left.text.size(), right.id);
    });
    by_text_.resize(candidates_.size());
    std::iota(by_text_.begin(), by_text_.end(), 0);
    std::sort(by_text_.begin(), by_text_.end(), [&](size_t left, size_t right) {
        return candidates_[left].text < candidates_[right].text;
    });
    for (const Candidate& candidate : candidates_) ++by_byte_[byte_at(candidate.text, 0) + 1];
    std::partial_sum(by_byte_.begin(), by_byte_.end(), by_byte_.begin());
}

// Which candidates occur at all. At each position the candidates that agree with the text so far
// are a range of those in the order of their texts, and every further byte narrows it.
std::vector<bool> SpecialTokens::present(std::string_view text) const {
    std::vector<bool> found(candidates_.size());
    for (size_t start = 0; start < text.size(); ++start) {
        auto low = by_text_.begin() + static_cast<ptrdiff_t>(by_byte_[byte_at(text, start)]);
        auto high = by_text_.begin() + static_cast<ptrdiff_t>(by_byte_[byte_at(text, start) + 1U]);
        for (size_t length = 1; low != high; ++length) {
            while (low != high && candidates_[*low].text.size() == length) found[*low++] = true;
            if (start + length == text.size()) break;
            const uint8_t next = byte_at(text, start + length);
            const auto byte = [&](size_t candidate) {
                return byte_at(candidates_[candidate].text, length);
            };
            low = std::partition_point(low, high, [&](size_t i) { return byte(i) < next; });
            high = std::partition_point(low, high, [&](size_t i) { return byte(i) == next; });
        }
    }
    return found;
}

template <typename Stays>
void SpecialTokens::cut_out(const Candidate& candidate, std::vector<Fragment>& fragments,
                            const Stays& stays) {
    std::vector<Fragment> cut;
    const auto add_raw = [&](std::string_view text) {
        if (!text.empty()) cut.push_back({text, std::nullopt});
    };
    for (const Fragment& fragment : fragments) {
        if (fragment.token) {
            cut.push_back(fragment);
            continue;
        }
        std::string_view rest = fragment.text;
        size_t at = 0;
        while ((at = rest.find(candidate.text, at)) != std::string_view::npos) {
            if (stays(rest.substr(at, candidate.text.size()))) {
                ++at;
                continue;
            }
            const std::string_view left = rest.substr(0, at);
            add_raw(candidate.swallows_left ? without_last_spaces(left) : left);
            cut.push_back({rest.substr(at, candidate.text.size()), candidate.id});
            rest.remove_prefix(at + candidate.text.size());
            if (candidate.swallows_right) rest = without_first_spaces(rest);
            at = 0;
        }
        add_raw(rest);
    }
    fragments = std::move(cut);
}

std::vector<Fragment> SpecialTokens::partition(std::string_view text, bool all,
                                               std::span<const ByteRange> plain) const {
    const auto is_plain = [&](std::string_view part) {
        const auto begin = static_cast<size_t>(part.data() - text.data());
        const auto range = std::partition_point(plain.begin(), plain.end(),
                                                [&](ByteRange each) { return each.end <= begin; });
        return range != plain.end() && range->begin < begin + part.size();
    };
    std::vector<Fragment> fragments;
    if (!text.empty()) fragments.push_back({text, std::nullopt});
    const std::vector<bool> found = present(text);
    for (size_t i = 0; i < candidates_.size(); ++i) {
        if (!found[i]) continue;
        if (!candidates_[i].syntax)
            cut_out(candidates_[i], fragments, [](std::string_view) { return false; });
        else if (all || candidates_[i].always)
            cut_out(candidates_[i], fragments, is_plain);
    }
    return fragments;
}

}  // namespace tandem::model
