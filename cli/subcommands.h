// All commands of the program, one file each.
#pragma once

#include "cli/options.h"

namespace tandem::cli {

extern const Subcommand run_command, logits_command, inspect_command, tokenize_command;
extern const Subcommand bench_command, perplexity_command, plan_command, devices_command,
    synth_command;

}  // namespace tandem::cli
