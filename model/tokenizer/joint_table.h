// Which pairs of symbols join, and to what: the merge list of a byte-pair encoding by ids.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/tokenizer/collisions.h"
#include "model/tokenizer/merge.h"

namespace tandem::model {

// A hash table with open addressing: merge lists have up to 300 thousand entries, and one lookup
// per pair of symbols is most of the work of encoding.
class JointTable {
  public:
    explicit JointTable(size_t most = 0) : entries_(std::bit_ceil(most * 2 + 1)) {}

    // At most `most` pairs. Of two entries for one pair the first counts. False where pairs were
    // chosen to collide.
    [[nodiscard]] bool add(int32_t left, int32_t right, Joint joint) {
        const size_t first = home(left, right);
        const size_t at = slot(first, left, right);
        if (entries_[at].left < 0) entries_[at] = {left, right, joint};
        return collisions_.add(first, at, entries_.size());
    }
    std::optional<Joint> find(int32_t left, int32_t right) const {
        const Entry& entry = entries_[slot(home(left, right), left, right)];
        return entry.left < 0 ? std::nullopt : std::optional(entry.joint);
    }

  private:
    struct Entry {
        int32_t left = -1;  // -1: free
        int32_t right = -1;
        Joint joint = {};
    };

    size_t home(int32_t left, int32_t right) const {
        const uint64_t pair = static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
        // Multiplication by 2^64 / golden ratio spreads neighbouring ids; its high bits are best.
        return (pair * 0x9E3779B97F4A7C15 >> 32) & (entries_.size() - 1);
    }

    size_t slot(size_t at, int32_t left, int32_t right) const {
        const size_t mask = entries_.size() - 1;
        while (entries_[at].left >= 0 &&
               (entries_[at].left != left || entries_[at].right != right)) {
            at = (at + 1) & mask;
        }
        return at;
    }

    std::vector<Entry> entries_;
    Collisions collisions_;
};

}  // namespace tandem::model
