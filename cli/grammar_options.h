// The options that bind what is generated to a grammar.
#pragma once

#include <optional>

#include "cli/interrupts.h"
#include "cli/options.h"
#include "model/grammar/grammar.h"

namespace tandem::cli {

extern const OptionGroup grammar_options;

// The grammar that the user asks for, or that of a JSON schema; none where there is neither. Throws
// Error where there are several, or it is none.
std::optional<model::grammar::Grammar> read_grammar(const Arguments& arguments,
                                                    const Interrupts* interrupts);

}  // namespace tandem::cli
