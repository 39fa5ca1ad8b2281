// The tokens accepted last, with how often each is among them: what penalties look at.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

namespace tandem::model {

class History {
  public:
    explicit History(int64_t window) : window_(window) {}

    void accept(int32_t token) {
        if (window_ <= 0) return;
        tokens_.push_back(token);
        ++counts_[token];
        if (int64_t(tokens_.size()) <= window_) return;
        auto oldest = counts_.find(tokens_.front());
        if (--oldest->second == 0) counts_.erase(oldest);
        tokens_.pop_front();
    }
    const std::unordered_map<int32_t, int>& counts() const { return counts_; }

  private:
    int64_t window_;
    std::deque<int32_t> tokens_;
    std::unordered_map<int32_t, int> counts_;
};

}  // namespace tandem::model
