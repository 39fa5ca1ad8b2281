// Standard input, a line at a time.
#pragma once

#include <optional>
#include <string>

#include "cli/interrupts.h"

namespace tandem::cli {

class LineReader {
  public:
    // Without its newline, of one or two characters; none at the end. Throws Error when an
    // interrupt comes while it is waited for, or where standard input cannot be read.
    std::optional<std::string> next(const Interrupts& interrupts);

  private:
    std::string read_;  // and not yet given
    bool ended_ = false;
};

}  // namespace tandem::cli
