// All commands of the program, one file each.
#pragma once

#include "cli/options.h"

namespace tandem::cli {

extern const Subcommand inspect_command, tokenize_command;

}  // namespace tandem::cli
