// The two kinds of wrong. Seen by every library.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {

// The world's fault: a file, memory, a device, an option. The text is one line that says what was
// being done, to what, and what would help. Libraries throw it; only cli/ prints it and exits.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& what) : std::runtime_error(what) {}
};

// Our fault: a condition that no input can break. Always on; throws std::logic_error. The place is
// the caller's; clang 14 has no std::source_location.
void check(bool condition, std::string_view sentence, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

}  // namespace tandem
