// Where the text comes from that a model is given.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "cli/interrupts.h"
#include "cli/options.h"

namespace tandem::cli {

extern const OptionGroup prompt_options;  // -p -f -e

// The text of -p, of the file of -f without one newline at its end, or of standard input where
// neither is given and it is no terminal, or --stdin asks for it; with escapes processed, unless
// --no-escape says otherwise. Throws Error where there are two of them or the file cannot be read,
// and when an interrupt comes while the text is waited for.
std::string read_prompt(const Arguments& arguments, const Interrupts* interrupts = nullptr);

// The bytes of a file. Error says that `what` ("the prompt") cannot be read from it, and why, such
// as more than `most` bytes, or that an interrupt came while it was waited for.
std::string read_bytes(const std::string& path, const std::string& what,
                       const Interrupts* interrupts = nullptr,
                       size_t most = std::numeric_limits<size_t>::max());
// The same without one newline at its end.
std::string read_text(const std::string& path, const std::string& what,
                      const Interrupts* interrupts = nullptr,
                      size_t most = std::numeric_limits<size_t>::max());

// \n \r \t \' \" \\ \xHH as what they stand for; all else stays.
std::string unescape(std::string_view text);

}  // namespace tandem::cli
