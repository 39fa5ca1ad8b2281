// The name that a misspelt word was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::cli {

// The first of `names` that is fewest slips away from `word`: letters left out, too many, wrong, or
// neighbours in the wrong order. Leading dashes do not count. Empty where no name is as near as one
// slip for every four letters of the word, or the word has fewer than three.
std::string nearest(std::string_view word, std::span<const std::string> names);

}  // namespace tandem::cli
