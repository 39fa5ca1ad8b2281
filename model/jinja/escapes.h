// Python's escapes in string literals.
#pragma once

#include <string>
#include <string_view>

namespace tandem::model::jinja {

// What is written between quotes, read. Unknown escapes stay as they are. Throws Error for escapes
// that are cut short.
std::string unescaped(std::string_view literal);

// With quotes and escapes, as Python's repr writes it.
std::string quoted(std::string_view text);

}  // namespace tandem::model::jinja
