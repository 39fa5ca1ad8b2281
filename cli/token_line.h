// One token as lists of tokens show it.
#pragma once

#include <cstdint>
#include <string>

#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

// "  3186 -> ' World'"
inline std::string token_line(const model::Tokenizer& tokenizer, int32_t id) {
    std::string number = std::to_string(id);
    if (number.size() < 6) number.insert(0, 6 - number.size(), ' ');
    return number + " -> '" + std::string(tokenizer.piece(id, true)) + "'\n";
}

}  // namespace tandem::cli
