// Tokens across which nothing counts as a repetition, such as those that end a line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/tokenizer/tokenizer.h"

namespace tandem::model {

class Breakers {
  public:
    Breakers() = default;
    // Every token that a text is in, and every one that ends with the beginning of a text, where
    // the tokens of the rest follow. Of a text count its first 40 bytes, of a rest its first 20
    // tokens.
    Breakers(std::span<const std::string> texts, const Tokenizer& tokenizer);

    // A token that breaks where these follow it.
    void add(int32_t head, const std::vector<int32_t>& tail);
    // Whether the token breaks by itself.
    bool has(int32_t token) const;
    // How many tokens stand behind the last breaker of a text, at most `most`.
    int64_t behind(std::span<const int32_t> text, int64_t most) const;

  private:
    void add(const std::string& text, const Tokenizer& tokenizer);

    std::unordered_map<int32_t, std::vector<std::vector<int32_t>>> tails_;  // by their heads
    int64_t longest_ = 0;                                                   // of the tails
};

}  // namespace tandem::model
