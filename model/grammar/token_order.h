// The texts of a vocabulary's tokens in the order of their bytes, so that what tokens have in
// common at their beginning is looked at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem::model::grammar {

struct OrderedToken {
    std::string_view text;  // not empty
    size_t shared = 0;      // bytes that it begins with as the one before it does
    int32_t id = 0;
};

class TokenOrder {
  public:
    TokenOrder() = default;
    // `texts` by id; they outlive it. Empty ones have no place.
    explicit TokenOrder(const std::vector<std::string_view>& texts);

    const std::vector<OrderedToken>& tokens() const { return tokens_; }
    size_t longest() const { return longest_; }  // bytes

  private:
    std::vector<OrderedToken> tokens_;
    size_t longest_ = 0;
};

}  // namespace tandem::model::grammar
