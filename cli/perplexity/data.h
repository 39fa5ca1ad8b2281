// The file that a model is measured by.
#pragma once

#include <string>

#include "cli/interrupts.h"
#include "cli/options.h"

namespace tandem::cli {

// That of -f or -bf. Throws Error where neither names one, or both do; `what` ("text") is what it
// should have.
std::string data_path(const Arguments& arguments, const std::string& what);
// The text in it: of -bf every byte, of -f all but one newline at its end.
std::string read_data(const Arguments& arguments, const Interrupts& interrupts);

}  // namespace tandem::cli
