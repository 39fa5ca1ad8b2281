#include "model/tokenizer/merge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <tuple>

namespace tandem::model {
namespace {

// Up to here looking at all pairs again after each join beats keeping a queue of them.
constexpr size_t few = 32;

void merge_few(std::vector<Symbol>& symbols, const FindJoint& find) {
    std::array<std::optional<Joint>, few> joints;  // of each symbol with the next
    const auto look = [&](size_t at) {
        joints[at] = at + 1 < symbols.size() ? find(symbols[at], symbols[at + 1]) : std::nullopt;
    };
    for (size_t at = 0; at < symbols.size(); ++at) look(at);
    while (true) {
        std::optional<size_t> best;
        for (size_t at = 0; at + 1 < symbols.size(); ++at) {
            if (joints[at] && (!best || joints[at]->rank < joints[*best]->rank)) best = at;
        }
        if (!best) return;
        const size_t at = *best;
        symbols[at].length += symbols[at + 1].length;
        symbols[at].id = joints[at]->id;
        symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
        std::copy(joints.begin() + at + 2, joints.end(), joints.begin() + at + 1);
        look(at);
        if (at > 0) look(at - 1);
    }
}

// A pair that was found joinable. It is out of date once either side has been joined, which shows
// in the lengths.
struct Candidate {
    Joint joint;
    size_t left, right;  // symbols
    size_t length;       // of both together

    bool operator<(const Candidate& other) const {  // worse
        return std::tie(joint.rank, left) > std::tie(other.joint.rank, other.left);
    }
};

void merge_many(std::vector<Symbol>& symbols, const FindJoint& find) {
    static constexpr size_t none = std::numeric_limits<size_t>::max();
    struct Neighbours {
        size_t previous, next;
    };
    std::vector<Neighbours> neighbours(symbols.size());
    std::priority_queue<Candidate> queue;
    const auto look = [&](size_t left, size_t right) {
        if (left == none || right == none) return;
        if (const auto joint = find(symbols[left], symbols[right])) {
            queue.push({*joint, left, right, symbols[left].length + symbols[right].length});
        }
    };
    for (size_t at = 0; at < symbols.size(); ++at) {
        neighbours[at] = {at == 0 ? none : at - 1, at + 1 == symbols.size() ? none : at + 1};
        look(at, neighbours[at].next);
    }
    while (!queue.empty()) {
        const Candidate best = queue.top();
        queue.pop();
        Symbol& left = symbols[best.left];
        Symbol& right = symbols[best.right];
        if (left.length == 0 || right.length == 0) continue;
        if (left.length + right.length != best.length) continue;
        left.length += right.length;
        left.id = best.joint.id;
        right.length = 0;
        const size_t next = neighbours[best.right].next;
        neighbours[best.left].next = next;
        if (next != none) neighbours[next].previous = best.left;
        look(neighbours[best.left].previous, best.left);
        look(best.left, next);
    }
    std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
}

}  // namespace

void merge(std::vector<Symbol>& symbols, const FindJoint& find) {
    if (symbols.size() <= few) {
        merge_few(symbols, find);
    } else {
        merge_many(symbols, find);
    }
}

}  // namespace tandem::model
