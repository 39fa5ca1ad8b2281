// Lists of numbers, each kept once, so that equal ones have the same number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tandem::model::grammar {

class Lists {
  public:
    using List = std::vector<uint64_t>;

    int32_t add(List list) {
        const size_t length = list.size();
        const auto [entry, is_new] = numbers_.try_emplace(std::move(list), int32_t(lists_.size()));
        if (is_new) {
            lists_.push_back(&entry->first);
            total_ += length + overhead;
        }
        return entry->second;
    }
    std::span<const uint64_t> operator[](int32_t number) const { return *lists_[size_t(number)]; }
    size_t size() const { return lists_.size(); }
    size_t total() const { return total_; }  // about as many numbers are in memory

  private:
    static constexpr size_t overhead = 10;

    struct Hash {
        size_t operator()(const List& list) const {
            uint64_t hash = list.size();
            for (const uint64_t number : list) {
                hash = (hash ^ number) * 0x9E3779B97F4A7C15;
                hash ^= hash >> 29;
            }
            return size_t(hash);
        }
    };
    std::unordered_map<List, int32_t, Hash> numbers_;
    std::vector<const List*> lists_;  // by number
    size_t total_ = 0;
};

}  // namespace tandem::model::grammar
