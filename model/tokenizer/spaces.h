// Vocabularies in the manner of SentencePiece write spaces as U+2581, a low block.
#pragma once

#include <string>
#include <string_view>

namespace tandem::model {

constexpr std::string_view escaped_space = "\u2581";

std::string escape_spaces(std::string_view text);
std::string unescape_spaces(std::string_view text);

}  // namespace tandem::model
