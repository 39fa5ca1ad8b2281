// Sets of Unicode code points, as ranges.
#pragma once

#include <span>
#include <vector>

namespace tandem::model::grammar {

inline constexpr char32_t last_character = 0x10FFFF;

struct Range {
    char32_t first = 0, last = 0;
    bool operator==(const Range&) const = default;
    bool operator<(const Range& other) const {
        return first != other.first ? first < other.first : last < other.last;
    }
};

class CharacterSet {
  public:
    CharacterSet() = default;
    // In any order, and they may overlap.
    explicit CharacterSet(std::vector<Range> ranges);

    CharacterSet complement() const;
    CharacterSet both(const CharacterSet& other) const;  // what is in this and in the other
    bool has(char32_t code) const;
    bool empty() const { return ranges_.empty(); }
    std::span<const Range> ranges() const { return ranges_; }  // in order, with gaps between them
    bool operator<(const CharacterSet& other) const { return ranges_ < other.ranges_; }

  private:
    std::vector<Range> ranges_;
};

}  // namespace tandem::model::grammar
