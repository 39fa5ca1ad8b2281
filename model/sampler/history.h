// The tokens accepted so far, and how often each is among the last of them: what samplers that look
// back see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tandem::model {

class History {
  public:
    // `window`: the tokens that are counted.
    explicit History(int64_t window) : window_(window) {}

    void accept(int32_t token) {
        tokens_.push_back(token);
        if (window_ <= 0) return;
        ++counts_[token];
        if (int64_t(tokens_.size()) <= window_) return;
        auto oldest = counts_.find(*(tokens_.end() - 1 - window_));
        if (--oldest->second == 0) counts_.erase(oldest);
    }
    void clear() {
        tokens_.clear();
        counts_.clear();
    }
    const std::unordered_map<int32_t, int>& counts() const { return counts_; }
    // The newest of them is last; fewer where there are no more.
    std::span<const int32_t> last(int64_t count) const {
        return std::span(tokens_).last(
            size_t(std::clamp<int64_t>(count, 0, int64_t(tokens_.size()))));
    }

  private:
    int64_t window_;
    std::vector<int32_t> tokens_;
    std::unordered_map<int32_t, int> counts_;
};

}  // namespace tandem::model
