#include "model/grammar/character_set.h"

#include <algorithm>

namespace tandem::model::grammar {

CharacterSet::CharacterSet(std::vector<Range> ranges) {
    std::sort(ranges.begin(), ranges.end());
    for (const Range& range : ranges) {
        if (!ranges_.empty() && range.first <= ranges_.back().last + 1)
            ranges_.back().last = std::max(ranges_.back().last, range.last);
        else
            ranges_.push_back(range);
    }
}

CharacterSet CharacterSet::complement() const {
    CharacterSet rest;
    char32_t next = 0;
    for (const Range& range : ranges_) {
        if (range.first > next) rest.ranges_.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= last_character) rest.ranges_.push_back({next, last_character});
    return rest;
}

CharacterSet CharacterSet::both(const CharacterSet& other) const {
    std::vector<Range> outside;
    for (const CharacterSet& set : {complement(), other.complement()})
        outside.insert(outside.end(), set.ranges_.begin(), set.ranges_.end());
    return CharacterSet(std::move(outside)).complement();
}

bool CharacterSet::has(char32_t code) const {
    const auto behind = std::ranges::upper_bound(ranges_, code, {}, &Range::first);
    return behind != ranges_.begin() && code <= std::prev(behind)->last;
}

}  // namespace tandem::model::grammar
